//! What it takes to start a satellite, whatever it runs on.
//!
//! The runtime knows satellites only through this trait; tests bring their own.

use satrap_abi::{KernelId, artifact::Target};
use std::{io, os::fd::OwnedFd, process::Child};

/// A satellite that was started: nothing is known of it but that it will speak on the socket.
#[derive(Debug)]
pub struct Launched {
    /// The coordinator's end of its control socket.
    pub socket: OwnedFd,
    /// Its operating-system process, if it is one of its own.
    pub child: Option<Child>,
}

/// Starts satellites of one kind.
pub trait Launcher: Send + Sync {
    /// What its satellites run; programs are compiled for it before the first is ready.
    fn target(&self) -> Target;

    /// Starts satellite `kernel`. It gets what it owns by the first frame on its socket.
    ///
    /// # Errors
    /// It cannot be started; the text of the error says what to do.
    fn launch(&self, kernel: KernelId) -> io::Result<Launched>;
}
