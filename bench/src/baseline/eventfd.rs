//! A round trip of two eventfds between processes that sleep on different cores: two wake-ups.
//!
//! What two idle satellites cannot beat without polling. `line.rs` is the same between cores that never
//! sleep; the bench `rmp` stands beside both.

use crate::failure::{About, Result};
use crate::pin::Pinned;
use crate::sample::Samples;
use crate::second::Second;
use rustix::event::{EventfdFlags, eventfd};
use rustix::io::{read, write};
use std::process::Stdio;
use std::time::{Duration, Instant};

const RING: [u8; 8] = 1u64.to_ne_bytes();
/// The last ring, after which the second process ends: eventfds do not close as pipes do.
const LAST: [u8; 8] = 2u64.to_ne_bytes();

/// The second process: answers each ring, its streams being the eventfds.
pub fn answer(_: &[String]) -> Result<()> {
    let mut count = [0; 8];
    while count != LAST {
        read(rustix::stdio::stdin(), &mut count).about("reading an eventfd")?;
        write(rustix::stdio::stdout(), &RING).about("ringing an eventfd")?;
    }
    Ok(())
}

/// Nanoseconds of a round trip between `cores`, each after a `pause` in which both fall asleep. The median.
pub fn round_trip(cores: [usize; 2], count: u64, pause: Duration) -> Result<f64> {
    let new = || eventfd(0, EventfdFlags::CLOEXEC).about("making an eventfd");
    let (there, back) = (new()?, new()?);
    let copy = |of: &std::os::fd::OwnedFd| of.try_clone().about("copying an eventfd").map(Stdio::from);
    let _second = Second::start("eventfd", cores[1], &[], copy(&there)?, copy(&back)?)?;
    let _pinned = Pinned::to(&[cores[0]])?;
    let mut trips = Samples::default();
    let mut count_back = [0; 8];
    for number in 1..=count.max(1) {
        std::thread::sleep(pause);
        let start = Instant::now();
        write(&there, if number == count.max(1) { &LAST } else { &RING }).about("ringing an eventfd")?;
        read(&back, &mut count_back).about("reading an eventfd")?;
        trips.push(start.elapsed().as_nanos() as f64);
    }
    Ok(trips.median())
}
