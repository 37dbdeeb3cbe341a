//! The machine of one kernel: its CPUs as the driver, the engine and the peers' bells see them.
//!
//! It has no clock and no threads of its own: `run.rs` says what time it is and which CPU is next.
//! `kernel.rs` stands on it.

use crate::{events::Life, stage::Stage};
use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed},
};

/// No CPU, no deadline.
const NONE: usize = usize::MAX;

/// One CPU.
#[derive(Default)]
struct Signals {
    woken: AtomicBool,
    interrupted: AtomicBool,
    /// When its preemption timer fires; 0 when it is not armed.
    timer: AtomicU64,
}

/// The machine of one kernel.
pub struct Host {
    /// The run.
    pub stage: Arc<Stage>,
    /// Whose it is.
    pub life: Life,
    cpus: Vec<Signals>,
    current: AtomicUsize,
    dead: AtomicBool,
}

impl Host {
    /// A machine with `cpus` CPUs.
    pub fn new(stage: Arc<Stage>, life: Life, cpus: usize) -> Host {
        Host {
            stage,
            life,
            cpus: (0..cpus).map(|_| Signals::default()).collect(),
            current: AtomicUsize::new(NONE),
            dead: AtomicBool::new(false),
        }
    }

    /// How many CPUs it has.
    pub fn cpus(&self) -> usize {
        self.cpus.len()
    }

    /// The CPU that the driver steps now.
    pub fn current(&self) -> Option<usize> {
        Some(self.current.load(Relaxed)).filter(|&cpu| cpu != NONE)
    }

    /// Says which CPU the driver steps from now on, and returns which it was.
    pub fn enter(&self, cpu: Option<usize>) -> Option<usize> {
        let before = self.current.swap(cpu.unwrap_or(NONE), Relaxed);
        Some(before).filter(|&cpu| cpu != NONE)
    }

    /// Whether it has crashed: nothing that it still does has an effect on others.
    pub fn is_dead(&self) -> bool {
        self.dead.load(Relaxed)
    }

    /// It crashes.
    pub fn die(&self) {
        self.dead.store(true, Relaxed);
    }

    /// Ends the sleep of a CPU, or its next one.
    pub fn wake(&self, cpu: usize) {
        self.cpus[cpu].woken.store(true, Relaxed);
    }

    /// Preempts what runs on a CPU, and ends its sleep.
    pub fn interrupt(&self, cpu: usize) {
        self.cpus[cpu].interrupted.store(true, Relaxed);
        self.wake(cpu);
    }

    /// Whether a sleep must end; asked once.
    pub fn take_wake(&self, cpu: usize) -> bool {
        self.cpus[cpu].woken.swap(false, Relaxed)
    }

    /// Arms or disarms the preemption timer.
    pub fn set_timer(&self, cpu: usize, deadline: Option<u64>) {
        self.cpus[cpu].timer.store(deadline.unwrap_or(0), Relaxed);
    }

    /// Whether what runs on a CPU must be preempted now; asked once.
    pub fn take_preemption(&self, cpu: usize) -> bool {
        let signals = &self.cpus[cpu];
        let timer = signals.timer.load(Relaxed);
        let due = timer != 0 && timer <= self.stage.now();
        if due {
            signals.timer.store(0, Relaxed);
        }
        signals.interrupted.swap(false, Relaxed) || due
    }
}
