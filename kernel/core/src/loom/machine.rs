//! The machine of the models: CPUs that sleep, are woken and are interrupted, all of which loom sees, and nothing
//! else. A CPU that sleeps and is never woken is a deadlock, which loom reports.

extern crate std;

use super::puppets::Puppets;
use crate::Platform;
use alloc::{sync::Arc, vec::Vec};
use core::{
    cell::Cell,
    sync::atomic::{AtomicU64, Ordering},
};
use loom::sync::{Condvar, Mutex};
use satrap_abi::control::ToCoordinator;
use satrap_link::Attention;

loom::thread_local! {
    static CPU: Cell<Option<usize>> = Cell::new(None);
}

/// A level that threads wait for.
#[derive(Default)]
pub(super) struct Signal(Mutex<bool>, Condvar);

impl Signal {
    pub(super) fn raise(&self) {
        *self.0.lock().unwrap() = true;
        self.1.notify_all();
    }

    fn is_raised(&self) -> bool {
        *self.0.lock().unwrap()
    }

    /// Waits until it is raised, and lowers it.
    pub(super) fn take(&self) {
        let mut raised = self.0.lock().unwrap();
        while !*raised {
            raised = self.1.wait(raised).unwrap();
        }
        *raised = false;
    }
}

/// The platform of the models.
pub(super) struct Machine {
    engine: Puppets,
    woken: Vec<Signal>,
    /// For each CPU: it was interrupted, or its timer is armed, so that what it runs will be preempted. While
    /// no thread runs it stays so for the next one (`kernel/engine/src/preempt.rs`).
    preempted: Arc<[Signal]>,
    /// A process has ended.
    pub(super) exited: Signal,
    /// Loom sees nothing of the time.
    clock: AtomicU64,
}

impl Machine {
    /// A machine with `cpus` CPUs.
    pub(super) fn new(cpus: usize) -> Machine {
        let preempted: Arc<[Signal]> = (0..cpus).map(|_| Signal::default()).collect();
        Machine {
            engine: Puppets(preempted.clone()),
            woken: (0..cpus).map(|_| Signal::default()).collect(),
            preempted,
            exited: Signal::default(),
            clock: AtomicU64::new(1),
        }
    }

    /// The timer fires, and what it did is over.
    pub(super) fn fire(&self, cpu: usize) {
        self.preempted[cpu].take();
    }

    /// Whether an interrupt or the timer will preempt what runs.
    pub(super) fn fires(&self, cpu: usize) -> bool {
        self.preempted[cpu].is_raised()
    }

    /// Time passes, which it does not by itself.
    pub(super) fn pass(&self, nanoseconds: u64) {
        self.clock.fetch_add(nanoseconds, Ordering::Relaxed);
    }
}

/// The calling thread becomes a CPU.
pub(super) fn enter(cpu: usize) {
    CPU.with(|own| own.set(Some(cpu)));
}

/// The CPU that the calling thread is.
pub(super) fn current() -> Option<usize> {
    CPU.with(Cell::get)
}

impl Platform for Machine {
    type Engine = Puppets;

    fn engine(&self) -> &Puppets {
        &self.engine
    }

    fn name(&self) -> &str {
        "loom"
    }

    fn cpus(&self) -> usize {
        self.woken.len()
    }

    fn current_cpu(&self) -> Option<usize> {
        current()
    }

    fn now(&self) -> u64 {
        self.clock.load(Ordering::Relaxed)
    }

    fn wall_clock(&self) -> u64 {
        self.now()
    }

    fn random(&self, _: &mut [u8]) {}

    fn set_timer(&self, cpu: usize, deadline: Option<u64>) {
        if deadline.is_some() {
            self.preempted[cpu].raise();
        }
    }

    fn park(&self, cpu: usize, _: Option<u64>) {
        self.woken[cpu].take();
    }

    fn unpark(&self, cpu: usize) {
        self.woken[cpu].raise();
    }

    fn interrupt(&self, cpu: usize) {
        self.preempted[cpu].raise();
        self.woken[cpu].raise();
    }

    fn set_attention(&self, _: Attention) {}

    fn doorbells(&self) -> u64 {
        0
    }

    fn send_control(&self, frame: ToCoordinator) {
        if let ToCoordinator::Exited { .. } = frame {
            self.exited.raise();
        }
    }

    fn poll_budget(&self) -> u64 {
        0
    }
}
