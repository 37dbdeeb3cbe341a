//! Which cores there are, and threads that keep to one.
//!
//! A thread that moves between cores measures the move. `lab.rs` chooses the cores for each bench.

use crate::failure::{About, Failure, Result};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::marker::PhantomData;

/// The cores that this process may use, ascending.
pub fn cores() -> Result<Vec<usize>> {
    let set = sched_getaffinity(None).about("asking for our cores")?;
    let cores: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|core| set.is_set(*core)).collect();
    match cores.is_empty() {
        true => Err(Failure::new("there is no core to run on")),
        false => Ok(cores),
    }
}

/// Keeps the calling thread, and what it starts, to these cores until dropped.
pub struct Pinned {
    before: CpuSet,
    /// Only the thread that was pinned may drop it.
    _thread: PhantomData<*const ()>,
}

impl Pinned {
    /// From now on.
    pub fn to(cores: &[usize]) -> Result<Pinned> {
        let before = sched_getaffinity(None).about("asking for our cores")?;
        let mut set = CpuSet::new();
        cores.iter().for_each(|core| set.set(*core));
        sched_setaffinity(None, &set).about(format_args!("keeping to the cores {cores:?}"))?;
        Ok(Pinned {
            before,
            _thread: PhantomData,
        })
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // Cores that have gone meanwhile are no reason to fail.
        let _ = sched_setaffinity(None, &self.before);
    }
}
