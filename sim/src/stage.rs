//! What everybody in a run shares: the clock, chance, the events to come, the trace and the checkers.
//!
//! Only one thread of a run goes at a time, so the locks are never contended; they are here because guests
//! stand on threads of their own (`engine/coroutine.rs`).

use crate::{
    checkers::Checkers,
    events::{Event, Life, Queue},
    facts::Fact,
    rng::Rng,
    sabotage::Sabotage,
    scenario::Scenario,
    trace::Trace,
};
use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

/// Virtual time at which a run begins.
const START: u64 = 1_000_000;

/// The shared part of a run.
pub struct Stage {
    /// What the run consists of.
    pub scenario: Scenario,
    now: AtomicU64,
    rng: Mutex<Rng>,
    queue: Mutex<Queue>,
    trace: Mutex<Trace>,
    checkers: Mutex<Checkers>,
    /// When the last frame on each control channel arrives: frames keep their order.
    arrivals: Mutex<BTreeMap<(Life, bool), u64>>,
    interlude: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

/// The value, whether or not somebody panicked while holding the lock: a panicking run is reported as such.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Stage {
    /// The stage of a run.
    pub fn new(scenario: Scenario, seed: u64, verbose: bool) -> Stage {
        let mut rng = Rng::new(seed);
        let scenario = scenario.drawn(&mut rng);
        Stage {
            scenario,
            now: AtomicU64::new(START),
            rng: Mutex::new(rng),
            queue: Mutex::default(),
            trace: Mutex::new(Trace::new(verbose)),
            checkers: Mutex::new(Checkers::new()),
            arrivals: Mutex::default(),
            interlude: OnceLock::new(),
        }
    }

    /// Virtual time in ns.
    pub fn now(&self) -> u64 {
        self.now.load(Ordering::Relaxed)
    }

    /// Lets time pass.
    pub fn pass(&self, ns: u64) {
        self.now.fetch_add(ns, Ordering::Relaxed);
    }

    /// Moves the clock on to `time`, never back.
    pub fn advance_to(&self, time: u64) {
        self.now.fetch_max(time, Ordering::Relaxed);
    }

    /// The run's chance.
    pub fn rng(&self) -> MutexGuard<'_, Rng> {
        lock(&self.rng)
    }

    /// The events to come.
    pub fn queue(&self) -> MutexGuard<'_, Queue> {
        lock(&self.queue)
    }

    /// Adds an event `delay` ns from now.
    pub fn after(&self, delay: u64, event: Event) {
        self.queue().add(self.now() + delay, event);
    }

    /// A frame to a kernel; it arrives after those sent before.
    pub fn to_satellite(&self, to: Life, frame: satrap_abi::control::ToSatellite) {
        let at = self.arrival(to, true);
        self.queue().add(at, Event::ToSatellite(to, frame));
    }

    /// A frame to the coordinator, or the end of its kernel; it arrives after those sent before.
    pub fn to_coordinator(&self, from: Life, event: Event) {
        let at = self.arrival(from, false);
        self.queue().add(at, event);
    }

    fn arrival(&self, life: Life, outward: bool) -> u64 {
        let delay = self.rng().between(1_000, 60_000);
        let mut arrivals = lock(&self.arrivals);
        let last = arrivals.entry((life, outward)).or_default();
        *last = (*last + 1).max(self.now() + delay);
        *last
    }

    /// Adds a line to the trace.
    pub fn note(&self, line: fmt::Arguments<'_>) {
        lock(&self.trace).note(self.now(), line);
    }

    /// The trace.
    pub fn trace(&self) -> MutexGuard<'_, Trace> {
        lock(&self.trace)
    }

    /// The checkers.
    pub fn checkers(&self) -> MutexGuard<'_, Checkers> {
        lock(&self.checkers)
    }

    /// States a fact.
    pub fn state(&self, fact: Fact) {
        if !matches!(fact, Fact::Usage(_)) {
            self.note(format_args!("{fact:?}"));
        }
        self.checkers().observe(&fact);
    }

    /// Whether the run is broken in this way.
    pub fn suffers(&self, sabotage: Sabotage) -> bool {
        self.scenario.sabotage == sabotage
    }

    /// Says what happens while a guest runs. Once.
    pub fn set_interlude(&self, interlude: Box<dyn Fn() + Send + Sync>) {
        let _ = self.interlude.set(interlude);
    }

    /// Other CPUs run while a guest does.
    pub fn interlude(&self) {
        if let Some(interlude) = self.interlude.get() {
            interlude();
        }
    }
}
