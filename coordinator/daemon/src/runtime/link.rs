//! The runtime's hold on one life of a satellite: its control socket and its operating-system process.
//!
//! It exists from launch to death; what the executive says to a satellite without a link goes nowhere.

use super::process::Process;
use crate::{
    namespace::KernelLife,
    satellite::{ControlSocket, Launched},
};

pub(super) struct Link {
    pub life: KernelLife,
    pub socket: ControlSocket,
    /// None for a satellite that is no process of its own.
    pub process: Option<Process>,
}

impl Link {
    pub fn new(life: KernelLife, launched: Launched) -> Link {
        Link {
            life,
            socket: ControlSocket::new(launched.socket),
            process: launched.child.map(Process::new),
        }
    }

    /// Kills what is left of the satellite; the process is returned if it could not be reaped yet.
    pub fn close(self) -> Option<Process> {
        let mut process = self.process?;
        process.kill();
        (!process.is_reaped()).then_some(process)
    }

    /// Why a satellite whose socket ended is gone, as far as its process tells.
    pub fn epitaph(&mut self) -> String {
        match &mut self.process {
            Some(process) => process.epitaph(),
            None => "it closed its control socket".to_owned(),
        }
    }
}
