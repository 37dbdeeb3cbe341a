//! A round trip of eight bytes through two pipes between two processes.
//!
//! Both keep to one core, as two processes of one satellite do, so each turn is a switch of processes. The
//! bench `lmp` stands beside it.

use crate::failure::{About, Failure, Result};
use crate::pin::Pinned;
use crate::sample::time_each;
use crate::second::Second;
use rustix::io::{read, write};
use std::io::{Read, Write};
use std::process::Stdio;

/// The second process: answers until its input closes.
pub fn answer(_: &[String]) -> Result<()> {
    let mut message = [0; 8];
    while read(rustix::stdio::stdin(), &mut message).about("reading a pipe")? > 0 {
        write(rustix::stdio::stdout(), &message).about("writing a pipe")?;
    }
    Ok(())
}

/// Nanoseconds of a round trip, both processes on `core`.
pub fn round_trip(core: usize, count: u64) -> Result<f64> {
    let mut second = Second::start("pipe", core, &[], Stdio::piped(), Stdio::piped())?;
    let none = || Failure::new("a second process has no pipe");
    let mut to = second.0.stdin.take().ok_or_else(none)?;
    let mut from = second.0.stdout.take().ok_or_else(none)?;
    let _pinned = Pinned::to(&[core])?;
    let mut message = [0; 8];
    let mut failed = Ok(());
    let each = time_each(count, || {
        if let Err(error) = to
            .write_all(&message)
            .and_then(|()| from.read_exact(&mut message))
        {
            failed = Err(error);
        }
    });
    drop(to);
    failed.about("a round trip through pipes")?;
    Ok(each)
}
