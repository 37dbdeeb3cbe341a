//! The raw round trip of a cache line between two cores: two threads, a line each, nothing else.
//!
//! The least that any message between cores costs on this machine. `eventfd.rs` is the same between cores
//! that sleep; the bench `rmp` stands beside both.

use crate::failure::{About, Failure, Result};
use crate::pin::Pinned;
use crate::sample::time_each;
use satrap_region::{LINE, Lines, Region};
use std::sync::atomic::Ordering::{Acquire, Release};

/// Far enough apart that a prefetch of one line's neighbour never takes the other.
const THERE: usize = 0;
const BACK: usize = 4;
/// Says that there is nothing more to answer.
const LAST: u64 = u64::MAX;

/// Nanoseconds of a round trip between `cores`.
pub fn round_trip(cores: [usize; 2], count: u64) -> Result<f64> {
    let lines = Lines::new(&Region::from_heap(8 * LINE), 0, 8).about("laying out cache lines")?;
    let theirs = lines.clone();
    let other = std::thread::spawn(move || answer(cores[1], &theirs));
    let _pinned = Pinned::to(&[cores[0]])?;
    // The first answer says that the other thread has come to its core.
    let mut number = 0;
    let mut trip = || {
        number += 1;
        lines.store(THERE, 0, number, Release);
        // No pause in this loop, nor in the other: the baseline is what the machine can do.
        while lines.load(BACK, 0, Acquire) != number {}
    };
    trip();
    let each = time_each(count, trip);
    lines.store(THERE, 0, LAST, Release);
    other
        .join()
        .map_err(|_| Failure::new("the answering thread has panicked"))??;
    Ok(each)
}

fn answer(core: usize, lines: &Lines) -> Result<()> {
    // Answers even where it cannot be pinned, so that the other side does not wait for ever.
    let pinned = Pinned::to(&[core]);
    let mut seen = 0;
    while seen != LAST {
        let number = lines.load(THERE, 0, Acquire);
        if number != seen {
            seen = number;
            lines.store(BACK, 0, seen, Release);
        }
    }
    pinned.map(drop)
}
