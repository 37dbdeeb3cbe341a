//! `satrap down`: ends the coordinator, and waits until it is gone.
//!
//! It waits on the process itself, so that a caller may start the next one at once; `up.rs` is the opposite.

use crate::{
    connect,
    context::Context,
    failure::{Failure, Result, plain},
    ui::output,
};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, PidfdFlags, pidfd_open},
};
use satrap_coordinator::api::Control;
use serde::Serialize;
use std::{io, os::fd::OwnedFd};

/// How long the coordinator may take, in s. Its satellites have less.
const PATIENCE: i64 = 10;

#[derive(Serialize)]
struct Ended {
    pid: u32,
    satellites: usize,
}

/// Ends it.
pub fn execute(context: &Context) -> Result {
    let client = connect::running(context)?;
    let control: &dyn Control = &client;
    let status = control.status()?;
    // Opened before it ends, so that it cannot be another process that has the same number.
    let process = open(status.pid);
    control.shutdown()?;
    if let Some(process) = process {
        wait(&process, status.pid)?;
    }
    context.timings.mark("coordinator gone");
    let ended = Ended {
        pid: status.pid,
        satellites: status.kernels.len(),
    };
    if context.json {
        return output::json(&ended);
    }
    output::text(&format!(
        "coordinator (process {}) and its satellites ({}) have ended\n",
        ended.pid, ended.satellites
    ))
}

/// None if it is gone, or in another process namespace.
fn open(pid: u32) -> Option<OwnedFd> {
    let pid = Pid::from_raw(i32::try_from(pid).ok()?)?;
    pidfd_open(pid, PidfdFlags::empty()).ok()
}

fn wait(process: &OwnedFd, pid: u32) -> Result {
    let limit = Timespec {
        tv_sec: PATIENCE,
        tv_nsec: 0,
    };
    match poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&limit)) {
        Ok(0) => Err(Failure::new(format!(
            "the coordinator (process {pid}) was told to end {PATIENCE} s ago and has not"
        ))
        .help(format!(
            "`kill -9 {pid}` ends it; its satellites end by themselves then"
        ))),
        Ok(_) => Ok(()),
        Err(error) => {
            let error = plain(&io::Error::from(error));
            Err(Failure::new(format!("cannot wait for process {pid}: {error}")))
        }
    }
}
