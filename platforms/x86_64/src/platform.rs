//! A PC as a platform of the kernel: one CPU, no peers.
//!
//! Each method is a line that names its device. Neighbours: `satrap_kernel::Platform`, which says what is wanted;
//! `coordinator.rs`, which takes the frames.

use crate::coordinator::Frames;
use crate::cpu;
use crate::devices::{apic, clock, entropy, serial};
use satrap_abi::control::ToCoordinator;
use satrap_engine::Wasmtime;
use satrap_kernel::{CallContext, Platform};
use satrap_link::Attention;
use satrap_sync::{AtomicBool, Ordering};

/// The platform's name for placement.
pub const NAME: &str = "x86_64";

/// How long an idle CPU polls before it sleeps: not at all, because nobody else could bring it work.
const POLL_BUDGET: u64 = 0;

/// The engine of this platform.
pub type PcEngine = Wasmtime<CallContext<Pc>>;

/// A PC as a platform.
pub struct Pc {
    engine: PcEngine,
    /// Frames for whoever stands in the coordinator's place.
    pub frames: Frames,
    /// The CPU is not to sleep.
    awake: AtomicBool,
}

impl Pc {
    /// A platform with this engine.
    pub fn new(engine: PcEngine) -> Pc {
        Pc {
            engine,
            frames: Frames::default(),
            awake: AtomicBool::new(false),
        }
    }
}

impl Platform for Pc {
    type Engine = PcEngine;

    fn engine(&self) -> &PcEngine {
        &self.engine
    }

    fn name(&self) -> &str {
        NAME
    }

    fn cpus(&self) -> usize {
        1
    }

    fn current_cpu(&self) -> Option<usize> {
        Some(0)
    }

    fn now(&self) -> u64 {
        clock::now()
    }

    fn wall_clock(&self) -> u64 {
        clock::wall()
    }

    fn random(&self, bytes: &mut [u8]) {
        entropy::fill(bytes);
    }

    fn set_timer(&self, _cpu: usize, deadline: Option<u64>) {
        apic::preempt_at(deadline);
    }

    fn park(&self, _cpu: usize, deadline: Option<u64>) {
        cpu::disable_interrupts();
        if self.awake.swap(false, Ordering::Relaxed) {
            cpu::enable_interrupts();
            return;
        }
        apic::sleep_until(deadline);
    }

    fn unpark(&self, _cpu: usize) {
        self.awake.store(true, Ordering::Relaxed);
    }

    fn interrupt(&self, cpu: usize) {
        apic::preempt_at(Some(clock::now()));
        self.unpark(cpu);
    }

    /// There are no peers to be told.
    fn set_attention(&self, _attention: Attention) {}

    fn doorbells(&self) -> u64 {
        0
    }

    fn send_control(&self, frame: ToCoordinator) {
        match frame {
            ToCoordinator::Console { bytes, .. } => serial::write(&bytes),
            frame => self.frames.push(frame),
        }
    }

    fn poll_budget(&self) -> u64 {
        POLL_BUDGET
    }
}
