//! Hosted satellites: each is a process `satrap-hosted`, whose control socket is its standard input.
//!
//! Neighbour: `platforms/hosted` is the other side.

use super::{Launched, Launcher, pair};
use satrap_abi::{KernelId, artifact::Target};
use std::{
    io,
    os::unix::process::CommandExt,
    path::PathBuf,
    process::{Command, Stdio},
};

/// Starts `satrap-hosted`.
#[derive(Clone, Debug)]
pub struct HostedLauncher {
    program: PathBuf,
}

impl HostedLauncher {
    /// A launcher of that executable.
    pub fn new(program: PathBuf) -> HostedLauncher {
        HostedLauncher { program }
    }
}

impl Launcher for HostedLauncher {
    fn target(&self) -> Target {
        Target::hosted_here()
    }

    fn launch(&self, kernel: KernelId) -> io::Result<Launched> {
        let (ours, theirs) = pair()?;
        // Standard input is the one descriptor that std hands over without a `pre_exec` hook, which would
        // cost unsafe code and the fast `posix_spawn`. Its own process group keeps the terminal's Ctrl-C
        // away from it: the coordinator decides when it ends.
        let child = Command::new(&self.program)
            .args(["--control-fd", "0"])
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            .process_group(0)
            .spawn()
            .map_err(|error| {
                let program = self.program.display();
                let reason = format!(
                    "cannot start satellite {kernel} from {program}: {error}; name the folder of satrap-hosted \
                     with SATRAP_BIN_DIR"
                );
                io::Error::new(error.kind(), reason)
            })?;
        Ok(Launched {
            socket: ours,
            child: Some(child),
        })
    }
}
