//! A satellite's operating-system process: killed for certain, reaped without waiting, its end explained.
//!
//! A pidfd tells of the end at once; on a Linux without them the end of the control socket must do.

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, PidfdFlags, pidfd_open},
};
use std::{os::fd::OwnedFd, process::Child, sync::Arc};

/// How long the exit status of a process may lag behind the end of its socket: the kernel closes descriptors
/// first.
const LAST_WORDS: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 5_000_000,
};

pub(super) struct Process {
    child: Child,
    /// Readable when the process has ended.
    death: Option<Arc<OwnedFd>>,
}

impl Process {
    pub fn new(child: Child) -> Process {
        let death = pidfd_open(Pid::from_child(&child), PidfdFlags::empty());
        Process {
            child,
            death: death.ok().map(Arc::new),
        }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Readable when the process has ended.
    pub fn death(&self) -> Option<Arc<OwnedFd>> {
        self.death.clone()
    }

    pub fn kill(&mut self) {
        // It may have ended already, which is what is wanted.
        let _ = self.child.kill();
    }

    /// Whether it has ended and is reaped.
    pub fn is_reaped(&mut self) -> bool {
        self.status().is_some()
    }

    /// How a process whose socket has ended came to its end.
    pub fn epitaph(&mut self) -> String {
        if let Some(death) = &self.death {
            // Without an answer in time the status is simply not known yet.
            let _ = poll(&mut [PollFd::new(death, PollFlags::IN)], Some(&LAST_WORDS));
        }
        match self.status() {
            Some(status) => format!("its process ended: {status}"),
            None => "it closed its control socket".to_owned(),
        }
    }

    fn status(&mut self) -> Option<String> {
        match self.child.try_wait() {
            Ok(status) => status.map(|status| status.to_string()),
            Err(error) => Some(error.to_string()),
        }
    }
}
