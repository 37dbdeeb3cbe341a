//! The runtime's hold on one life of a satellite: its control socket and its operating-system process.
//!
//! It exists from launch to death; what the executive says to a satellite without a link goes nowhere.

use crate::{
    namespace::KernelLife,
    satellite::{ControlSocket, Launched},
};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::{os::fd::OwnedFd, process::Child, sync::Arc};

pub(super) struct Link {
    pub life: KernelLife,
    pub socket: ControlSocket,
    child: Option<Child>,
    /// Readable when the process is dead, even if its socket lives on in another.
    pub death: Option<Arc<OwnedFd>>,
}

impl Link {
    pub fn new(life: KernelLife, launched: Launched) -> Link {
        let pid = launched.child.as_ref().map(Pid::from_child);
        // Without a pidfd (an old Linux) the end of the socket tells the same.
        let death = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        Link {
            life,
            socket: ControlSocket::new(launched.socket),
            child: launched.child,
            death: death.map(Arc::new),
        }
    }

    pub fn pid(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// Kills what is left of the satellite; the child is returned if it could not be reaped yet.
    pub fn close(mut self) -> Option<Child> {
        let mut child = self.child.take()?;
        // It may be dead already, which is what is wanted.
        let _ = child.kill();
        reap(&mut child).is_none().then_some(child)
    }
}

/// The exit of a child that has ended, in words.
pub(super) fn reap(child: &mut Child) -> Option<String> {
    match child.try_wait() {
        Ok(Some(status)) => Some(status.to_string()),
        Ok(None) => None,
        Err(error) => Some(error.to_string()),
    }
}

impl Link {
    /// Why a satellite whose socket ended is gone, as far as its process tells.
    pub fn epitaph(&mut self) -> String {
        let status = self.child.as_mut().and_then(reap);
        match status {
            Some(status) => format!("its process ended: {status}"),
            None => "it closed its control socket".to_owned(),
        }
    }
}
