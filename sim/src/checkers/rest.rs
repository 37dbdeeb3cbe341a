//! No wake-up is lost, and nothing is left over: what a world must look like once nothing moves in it.
//!
//! It looks only when no event is left, so whoever still waits has been forgotten by somebody. `sabotage.rs`
//! shows that it can fail.

use super::Checker;
use crate::{events::Life, facts::Fact};
use satrap_abi::ProcessId;
use std::collections::BTreeMap;

/// A world in which nothing moves: every CPU sleeps without a deadline, no frame, doorbell or timer is due.
#[derive(Clone, Debug, Default)]
pub struct AtRest {
    /// Whether it came to rest at all, in the time that a run has.
    pub rests: bool,
    /// Programs that should have ended and have not.
    pub unfinished: Vec<String>,
    /// Whether all clients have ended: then services serve nobody.
    pub clients_done: bool,
    /// The namespace: path and process.
    pub names: BTreeMap<String, ProcessId>,
    /// What kernels still hold once every process has ended; empty before.
    pub leftovers: Vec<Leftover>,
}

/// What a kernel holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Leftover {
    /// The kernel.
    pub life: Life,
    /// Bytes of its exchange heap in use.
    pub exchange: u64,
    /// Its processes.
    pub processes: usize,
    /// Whether it, once shut down, is still held by something of its own.
    pub leaked: bool,
}

/// Everybody who should have ended has: no wake-up was lost on the way.
pub struct Progress;

impl Checker for Progress {
    fn name(&self) -> &'static str {
        "wake-ups"
    }

    fn observe(&mut self, _fact: &Fact) -> Result<(), String> {
        Ok(())
    }

    fn at_rest(&mut self, world: &AtRest) -> Result<(), String> {
        if !world.rests {
            return Err(format!(
                "no rest in the time of a run; unfinished: {:?}",
                world.unfinished
            ));
        }
        if world.unfinished.is_empty() {
            return Ok(());
        }
        Err(format!(
            "everybody sleeps, nothing is due, and {:?} wait for ever",
            world.unfinished
        ))
    }
}

/// When every process has ended, every byte of every exchange heap is free, and every kernel can go.
pub struct NothingLeft;

impl Checker for NothingLeft {
    fn name(&self) -> &'static str {
        "leftovers"
    }

    fn observe(&mut self, _fact: &Fact) -> Result<(), String> {
        Ok(())
    }

    fn at_rest(&mut self, world: &AtRest) -> Result<(), String> {
        let clean = |kernel: &&Leftover| kernel.exchange > 0 || kernel.processes > 0 || kernel.leaked;
        match world.leftovers.iter().find(clean) {
            Some(kernel) => Err(format!("when all was over: {kernel:?}")),
            None => Ok(()),
        }
    }
}
