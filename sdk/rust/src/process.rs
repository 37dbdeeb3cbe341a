//! The process itself: its arguments, its ids, its end, and how `main` is run.
//!
//! A failure of `main` is printed, and becomes exit code 1. Neighbour: `raw/entry` exports what is run here.

use std::fmt::Display;

use satrap_abi::KernelId;
use satrap_abi::ProcessId;

use crate::console;
use crate::raw::{self, calls};

/// The program's name, then its arguments.
pub fn args() -> Vec<String> {
    // It fails only where there is no kernel, and there are no arguments there either.
    raw::strings(&calls::args().unwrap_or_default())
}

/// Ends the process with a code; 0 is success. Its endpoints close, its blocks are freed, its names vanish.
pub fn exit(code: i32) -> ! {
    console::flush();
    raw::exit(code);
    // The kernel does not return from `exit`; on a host there is none.
    std::process::abort()
}

/// This process's id, unique on the machine and never reused.
pub fn id() -> ProcessId {
    ProcessId(raw::process_id())
}

/// The satellite kernel that this process runs on: `/kernel/N`. Placement decides it; a program should care
/// only to report it.
pub fn kernel() -> KernelId {
    KernelId(u16::try_from(raw::kernel_id()).unwrap_or_default())
}

/// What `main` may return.
pub trait Outcome {
    /// The process's exit code; reports a failure on the console.
    fn into_code(self) -> i32;
}

impl Outcome for () {
    fn into_code(self) -> i32 {
        0
    }
}

impl<T: Outcome, E: Display> Outcome for Result<T, E> {
    fn into_code(self) -> i32 {
        match self {
            Ok(outcome) => outcome.into_code(),
            Err(error) => {
                crate::eprintln!("error: {error}");
                1
            }
        }
    }
}

/// Runs a program's `main`. [`main!`](crate::main) calls it.
#[doc(hidden)]
pub fn run<T: Outcome>(main: fn() -> T) -> i32 {
    console::report_panics();
    let code = main().into_code();
    console::flush();
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_from_main_becomes_code_one() {
        assert_eq!(run(|| ()), 0);
        assert_eq!(run(|| Ok::<(), String>(())), 0);
        assert_eq!(run(|| Err::<(), _>("no such name")), 1);
    }
}
