//! Payload between two processes by memcpy through shared memory: what a remote channel can reach at best.
//!
//! Each process writes its own memory file only and reads the other's, as satellites do (DESIGN §4): first a
//! word that counts messages, then the slots for the payload.

use crate::failure::{About, Failure, Result};
use crate::pin::Pinned;
use crate::sample::time_each;
use crate::second::Second;
use satrap_hosted::SharedMemory;
use satrap_region::{Region, Word};
use std::fs::File;
use std::hint::spin_loop;
use std::io::{BufRead, BufReader, Write, stdin, stdout};
use std::os::fd::AsRawFd;
use std::process::{Stdio, id};
use std::sync::atomic::Ordering::{Acquire, Release};

/// Payloads under way at once, at most.
const SLOTS: u64 = 4;
/// Payloads between two looks at the clock, as in the guests.
const BURST: u64 = 32;
/// The payload begins on a page of its own.
const HEAD: usize = 4096;
/// Says that no message follows.
const LAST: u64 = u64::MAX;

/// One process's view of both memories.
struct Pair {
    own: SharedMemory,
    other: SharedMemory,
    bytes: usize,
    sent: Word,
    seen: Word,
}

impl Pair {
    fn new(own: SharedMemory, path: &str, bytes: usize) -> Result<Pair> {
        let file = File::open(path).about(format_args!("opening {path}"))?;
        let other = SharedMemory::open(file.into(), length(bytes)).about("mapping the other's memory")?;
        let pair = Pair {
            sent: Word::new(own.region(), 0).about("laying out memory")?,
            seen: Word::new(other.region(), 0).about("laying out memory")?,
            own,
            other,
            bytes,
        };
        // Every page is touched once: a page fault in the middle is no part of a memcpy.
        (0..SLOTS).try_for_each(|slot| pair.copy(slot))?;
        Ok(pair)
    }

    /// Tells the other that we have come to message `number`.
    fn tell(&self, number: u64) {
        self.sent.store(number, Release);
    }

    /// Waits until the other has come to message `number`, and returns what it has come to.
    fn await_other(&self, number: u64) -> u64 {
        loop {
            let seen = self.seen.load(Acquire);
            if seen >= number {
                return seen;
            }
            spin_loop();
        }
    }

    fn slot<'a>(&self, of: &'a SharedMemory, number: u64) -> (&'a Region, usize) {
        (of.region(), HEAD + (number % SLOTS) as usize * self.bytes)
    }

    /// Copies message `number` from the other's memory to ours.
    fn copy(&self, number: u64) -> Result<()> {
        let (from, at) = self.slot(&self.other, number);
        let (to, to_at) = self.slot(&self.own, number);
        from.copy_to(at, to, to_at, self.bytes).about("copying")
    }

    /// Writes message `number`.
    fn fill(&self, number: u64) -> Result<()> {
        let (to, at) = self.slot(&self.own, number);
        to.fill(at, self.bytes, number as u8).about("filling")
    }
}

fn length(bytes: usize) -> usize {
    HEAD + SLOTS as usize * bytes
}

/// The second process: copies each message and has the first copy it back.
pub fn exchange(arguments: &[String]) -> Result<()> {
    serve(&second(arguments)?, |_| 0)
}

/// The second process: copies what is poured to it.
pub fn drain(arguments: &[String]) -> Result<()> {
    serve(&second(arguments)?, |number| number)
}

/// Copies message after message, each from the slot that `slot` gives.
fn serve(pair: &Pair, slot: impl Fn(u64) -> u64) -> Result<()> {
    let mut number = 1;
    while pair.await_other(number) != LAST {
        pair.copy(slot(number))?;
        pair.tell(number);
        number += 1;
    }
    farewell()
}

/// Nanoseconds of a copy when one payload goes to and fro.
pub fn to_and_fro(cores: [usize; 2], bytes: usize, count: u64) -> Result<f64> {
    let trip = |pair: &Pair, number| {
        pair.tell(number);
        pair.await_other(number);
        pair.copy(0)
    };
    first("exchange", cores, bytes, count, &trip).map(|each| each / 2.0)
}

/// Nanoseconds of a payload when one process writes and the other copies, several being under way. Each burst
/// ends when all are copied, as in the guests.
pub fn one_way(cores: [usize; 2], bytes: usize, count: u64) -> Result<f64> {
    let burst = |pair: &Pair, number: u64| {
        let last = number * BURST;
        for number in last - BURST + 1..=last {
            pair.await_other(number.saturating_sub(SLOTS));
            pair.fill(number)?;
            pair.tell(number);
        }
        pair.await_other(last);
        Ok(())
    };
    let each = first("drain", cores, bytes, count.div_ceil(BURST), &burst)?;
    Ok(each / BURST as f64)
}

/// The first process's side: starts the second and makes `count` steps, numbered from 1.
fn first(
    role: &str,
    cores: [usize; 2],
    bytes: usize,
    count: u64,
    trip: &dyn Fn(&Pair, u64) -> Result<()>,
) -> Result<f64> {
    let own = SharedMemory::create(length(bytes)).about("making shared memory")?;
    let arguments = [path(&own), bytes.to_string()];
    let mut second = Second::start(role, cores[1], &arguments, Stdio::piped(), Stdio::piped())?;
    let output = second.0.stdout.take();
    let output = output.ok_or_else(|| Failure::new("a second process has no output"))?;
    let mut line = String::new();
    BufReader::new(output)
        .read_line(&mut line)
        .about("reading the second process's path")?;
    let pair = Pair::new(own, line.trim_end(), bytes)?;
    let _pinned = Pinned::to(&[cores[0]])?;
    let (mut number, mut failed) = (0, Ok(()));
    let each = time_each(count, || {
        number += 1;
        if failed.is_ok() {
            failed = trip(&pair, number);
        }
    });
    pair.tell(LAST);
    failed.map(|()| each)
}

/// The second process's side: maps the first's memory and tells where its own is.
fn second(arguments: &[String]) -> Result<Pair> {
    let [other, bytes] = arguments else {
        return Err(Failure::new("a path and bytes are wanted"));
    };
    let bytes = bytes.parse().about("the bytes")?;
    let own = SharedMemory::create(length(bytes)).about("making shared memory")?;
    writeln!(stdout(), "{}", path(&own)).about("telling our path")?;
    Pair::new(own, other, bytes)
}

/// Keeps the memory until the first process has finished with it.
fn farewell() -> Result<()> {
    stdin()
        .read_line(&mut String::new())
        .about("waiting for the first process")
        .map(drop)
}

fn path(memory: &SharedMemory) -> String {
    format!("/proc/{}/fd/{}", id(), memory.file().as_raw_fd())
}
