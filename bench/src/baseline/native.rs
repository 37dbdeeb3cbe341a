//! A native process that says hello: what starting costs without any of us.
//!
//! It is this program started anew, so that its pages are as warm as those of the other side. The benches
//! `spawn` and `run` stand beside it.

use crate::failure::{About, Failure, Result};
use crate::second;
use std::io::{Read, Write, stdout};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

const HELLO: &[u8] = b"hello\n";

/// The second process: one write, then the end.
pub fn hello(_: &[String]) -> Result<()> {
    stdout().write_all(HELLO).about("saying hello")
}

/// From start to first message of `count` processes started at once.
pub fn first_message(count: usize) -> Result<Duration> {
    let begin = Instant::now();
    let mut children = (0..count).map(|_| start()).collect::<Result<Vec<Child>>>()?;
    for child in &mut children {
        listen(child)?;
    }
    let took = begin.elapsed();
    for mut child in children {
        child.wait().about("waiting for a native process")?;
    }
    Ok(took)
}

/// From start to end of one.
pub fn whole() -> Result<Duration> {
    let begin = Instant::now();
    let mut child = start()?;
    listen(&mut child)?;
    child.wait().about("waiting for a native process")?;
    Ok(begin.elapsed())
}

fn start() -> Result<Child> {
    second::command("hello")?
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .about("starting a native process")
}

fn listen(child: &mut Child) -> Result<()> {
    let mut said = [0; HELLO.len()];
    let output = child.stdout.as_mut();
    let output = output.ok_or_else(|| Failure::new("a native process has no output"))?;
    output
        .read_exact(&mut said)
        .about("listening to a native process")
}
