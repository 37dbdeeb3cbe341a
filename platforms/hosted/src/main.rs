//! `satrap-hosted`: one satellite kernel. The coordinator starts it and speaks to it over a control socket.
//!
//! It takes nothing from the environment or the file system: memory of peers, programs and settings all come
//! over that socket. `lib.rs` has the satellite itself.

use std::{os::fd::FromRawFd, process::ExitCode};

const USAGE: &str = "usage: satrap-hosted --control-fd N\n\nA satellite kernel. It is started by `satrap`.";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let fd = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--control-fd", number] => number.parse().ok(),
        _ => None,
    };
    let Some(fd) = fd else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    // SAFETY: the coordinator hands the descriptor over; nothing else in this process owns it.
    let socket = unsafe { std::os::fd::OwnedFd::from_raw_fd(fd) };
    match satrap_hosted::run(socket) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("satrap-hosted: {error}");
            ExitCode::FAILURE
        }
    }
}
