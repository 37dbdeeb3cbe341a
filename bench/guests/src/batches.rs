//! Timing in batches, of which the median counts: where the machine's host takes the core away, it spoils a
//! batch and not the figure.

use std::time::Duration;

use satrap::time;

/// As many as the baselines have.
const BATCHES: u64 = 256;

/// Takes about `count` steps and returns the nanoseconds of each in the median batch.
pub fn each<E>(count: u64, mut step: impl FnMut(u64) -> Result<(), E>) -> Result<f64, E> {
    let length = count.div_ceil(BATCHES).max(1);
    let mut batches = Vec::new();
    for _ in 0..count.div_ceil(length) {
        let start = time::now();
        (0..length).try_for_each(&mut step)?;
        batches.push(start.elapsed());
    }
    Ok(median(batches) / length as f64)
}

/// In nanoseconds; 0 of nothing.
pub fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    let middle = times.get(times.len() / 2);
    middle.map_or(0.0, |time| time.as_nanos() as f64)
}
