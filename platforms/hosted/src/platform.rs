//! Linux as a platform of the kernel.
//!
//! The kernel's porting surface, implemented: clock, random numbers, CPUs, parking and the engine. Its
//! sibling is `platforms/x86_64`; `kernel/core/src/platform.rs` says what each method must do.

use crate::{
    bells::Eventfd,
    control::Control,
    cpus::{self, CpuHandle},
    ticks::{self, Ticks},
};
use rustix::{
    rand::{GetRandomFlags, getrandom},
    time::{ClockId, clock_gettime},
};
use satrap_abi::control::ToCoordinator;
use satrap_engine::Wasmtime;
use satrap_kernel::{CallContext, Platform};
use satrap_link::{Attention, OwnAttention};
use satrap_region::Lines;
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

/// How long an idle CPU polls before it parks. A wake-up across cores costs 25 to 75 µs on the machines that
/// this was measured on; twice that is never worse than twice the best choice.
const POLL_BUDGET: u64 = 150_000;

/// The engine of the hosted platform.
pub(crate) type HostedEngine = Wasmtime<CallContext<Hosted>>;

/// A Linux process as a platform.
pub struct Hosted {
    pub(crate) engine: HostedEngine,
    pub(crate) cpus: Vec<CpuHandle>,
    pub(crate) interrupted: Eventfd,
    pub(crate) control: Arc<Control>,
    pub(crate) attention: OwnAttention<Lines>,
    /// Doorbells rung, counted by the peers' bells.
    pub(crate) doorbells: Arc<AtomicU64>,
    pub(crate) ticks: Ticks,
}

fn nanoseconds(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Monotonic time in ns, the same for every process of the machine.
#[inline]
pub(crate) fn monotonic() -> u64 {
    nanoseconds(ClockId::Monotonic)
}

impl Platform for Hosted {
    type Engine = HostedEngine;

    fn engine(&self) -> &HostedEngine {
        &self.engine
    }

    fn name(&self) -> &str {
        NAME
    }

    fn cpus(&self) -> usize {
        self.cpus.len()
    }

    fn current_cpu(&self) -> Option<usize> {
        cpus::current()
    }

    fn now(&self) -> u64 {
        monotonic()
    }

    #[inline(always)]
    fn ticks(&self) -> u64 {
        ticks::now()
    }

    fn nanoseconds_in(&self, ticks: u64) -> u64 {
        self.ticks.nanoseconds_in(ticks, self.now())
    }

    fn wall_clock(&self) -> u64 {
        nanoseconds(ClockId::Realtime)
    }

    fn random(&self, bytes: &mut [u8]) {
        let mut filled = 0;
        while filled < bytes.len() {
            // Interrupted by a signal at most: then the rest is asked for again.
            filled += getrandom(&mut bytes[filled..], GetRandomFlags::empty()).unwrap_or(0);
        }
    }

    fn set_timer(&self, _cpu: usize, deadline: Option<u64>) {
        cpus::set_timer(deadline);
    }

    fn park(&self, cpu: usize, deadline: Option<u64>) {
        self.cpus[cpu]
            .bell
            .sleep(deadline.map(|deadline| deadline.saturating_sub(self.now())));
    }

    fn unpark(&self, cpu: usize) {
        self.cpus[cpu].bell.ring();
    }

    fn interrupt(&self, cpu: usize) {
        self.cpus[cpu].interrupt();
        self.unpark(cpu);
    }

    fn set_attention(&self, attention: Attention) {
        self.attention.set(attention);
    }

    fn doorbells(&self) -> u64 {
        self.doorbells.load(Ordering::Relaxed)
    }

    fn send_control(&self, frame: ToCoordinator) {
        self.control.send(&frame);
    }

    fn poll_budget(&self) -> u64 {
        POLL_BUDGET
    }
}

/// The platform's name for placement.
#[cfg(target_arch = "x86_64")]
pub(crate) const NAME: &str = "hosted-x86_64";
/// The platform's name for placement.
#[cfg(target_arch = "aarch64")]
pub(crate) const NAME: &str = "hosted-aarch64";
