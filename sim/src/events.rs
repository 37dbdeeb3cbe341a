//! What will happen, by virtual time: frames on their way, doorbells, and what the scenario has in store.
//!
//! Two events at one time keep the order in which they were made, so that a seed always gives the same run.
//! `run.rs` takes them one by one.

use satrap_abi::{
    KernelId,
    control::{ToCoordinator, ToSatellite},
};
use std::{collections::BTreeMap, fmt};

/// One life of a kernel: its number and its generation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Life {
    /// Its number.
    pub kernel: KernelId,
    /// How many kernels had this number before it.
    pub generation: u32,
}

impl fmt::Debug for Life {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "k{}.{}", self.kernel, self.generation)
    }
}

/// Something that happens at a time.
#[derive(Debug)]
pub enum Event {
    /// A CPU's sleep ends: an unpark of its own kernel, or a peer's doorbell.
    Wake(Life, usize),
    /// A CPU is interrupted.
    Interrupt(Life, usize),
    /// A frame reaches a kernel.
    ToSatellite(Life, ToSatellite),
    /// A frame reaches the coordinator.
    ToCoordinator(Life, ToCoordinator),
    /// The coordinator sees that a kernel is dead.
    Lost(Life),
    /// A kernel starts, in the next generation of its number.
    Boot(KernelId),
    /// The coordinator starts the process of that place in its plans.
    Start(usize),
    /// The scenario crashes a kernel.
    Crash(KernelId),
    /// The scenario kills the process that runs the plan of that place.
    Strike(usize),
}

/// The events to come.
#[derive(Default)]
pub struct Queue {
    events: BTreeMap<(u64, u64), Event>,
    serial: u64,
}

impl Queue {
    /// Adds an event; of two at the same time the first added happens first.
    pub fn add(&mut self, at: u64, event: Event) {
        self.serial += 1;
        self.events.insert((at, self.serial), event);
    }

    /// When the next event happens.
    pub fn next(&self) -> Option<u64> {
        self.events.first_key_value().map(|(&(at, _), _)| at)
    }

    /// Takes the next event out if its time has come.
    pub fn take(&mut self, now: u64) -> Option<Event> {
        if self.next()? > now {
            return None;
        }
        self.events.pop_first().map(|(_, event)| event)
    }
}
