//! The second process of a baseline: this program once more, in another role, on a core of its own.
//!
//! `satrap-bench --second ROLE ...` is for this file alone. Its standard streams are whatever the baseline
//! talks through: pipes, or eventfds.

use crate::baseline;
use crate::failure::{About, Failure, Result};
use crate::pin::Pinned;
use std::process::{Child, Command, Stdio};

/// The option that makes this program a second process.
pub const OPTION: &str = "--second";

/// Parts that a second process can play: a name and what it does with its arguments until it is done.
const ROLES: &[(&str, Role)] = &[
    ("hello", baseline::native::hello),
    ("pipe", baseline::pipe::answer),
    ("eventfd", baseline::eventfd::answer),
    ("exchange", baseline::memcpy::exchange),
    ("drain", baseline::memcpy::drain),
];

/// What a second process does.
pub type Role = fn(&[String]) -> Result<()>;

/// A running second process; dropping it waits for its end, which closing its input must bring about.
pub struct Second(pub Child);

impl Second {
    /// Starts `role` on `core`, with these streams.
    pub fn start(
        role: &str,
        core: usize,
        arguments: &[String],
        input: Stdio,
        output: Stdio,
    ) -> Result<Second> {
        let mut command = command(role)?;
        command.args(arguments).stdin(input).stdout(output);
        let pinned = Pinned::to(&[core])?;
        let child = command
            .spawn()
            .about(format_args!("starting a second process as {role}"))?;
        drop(pinned);
        Ok(Second(child))
    }
}

impl Drop for Second {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// This program in a role.
pub fn command(role: &str) -> Result<Command> {
    let program = std::env::current_exe().about("finding this program")?;
    let mut command = Command::new(program);
    command.args([OPTION, role]);
    Ok(command)
}

/// Plays the role that the command line names.
pub fn play(arguments: &[String]) -> Result<()> {
    let Some((name, rest)) = arguments.split_first() else {
        return Err(Failure::new("a role is missing"));
    };
    match ROLES.iter().find(|(role, _)| role == name) {
        Some((_, role)) => role(rest),
        None => Err(Failure::new(format!("there is no role `{name}`"))),
    }
}
