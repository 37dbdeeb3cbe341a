//! The simulated platform: what the kernel asks of its machine, answered by the stage.
//!
//! `park` is never called: the driver calls `Executor::step` and parks CPUs in virtual time (`world.rs`).

use super::Host;
use crate::{
    engine::{
        SimEngine,
        coroutine::{Signal, pass},
    },
    events::Event,
    facts::Fact,
    sabotage::Sabotage,
};
use satrap_abi::control::ToCoordinator;
use satrap_kernel::Platform;
use satrap_link::{Attention, OwnAttention};
use satrap_region::Lines;
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

/// The platform of one kernel.
pub struct SimPlatform {
    host: Arc<Host>,
    engine: SimEngine,
    attention: OwnAttention<Lines>,
    bells: Arc<AtomicU64>,
    /// Kernel calls poll before they wait.
    polls: bool,
}

impl SimPlatform {
    /// The platform over a host; `attention` is the word of its export, `bells` counts what its bells rang.
    pub fn new(host: Arc<Host>, attention: OwnAttention<Lines>, bells: Arc<AtomicU64>) -> SimPlatform {
        let polls = host.stage.rng().chance(500);
        SimPlatform {
            polls,
            engine: SimEngine::new(host.clone()),
            host,
            attention,
            bells,
        }
    }
}

impl Platform for SimPlatform {
    type Engine = SimEngine;

    fn engine(&self) -> &SimEngine {
        &self.engine
    }

    fn name(&self) -> &str {
        "sim"
    }

    fn cpus(&self) -> usize {
        self.host.cpus()
    }

    fn current_cpu(&self) -> Option<usize> {
        self.host.current()
    }

    /// Time passes while it is read, so that whoever polls does so for a time.
    fn now(&self) -> u64 {
        self.host.stage.pass(1);
        self.host.stage.now()
    }

    fn wall_clock(&self) -> u64 {
        self.host.stage.now()
    }

    fn random(&self, bytes: &mut [u8]) {
        let mut rng = self.host.stage.rng().fork();
        bytes.fill_with(|| rng.next() as u8);
    }

    fn set_timer(&self, cpu: usize, deadline: Option<u64>) {
        self.host.set_timer(cpu, deadline);
    }

    fn park(&self, _cpu: usize, _deadline: Option<u64>) {}

    fn unpark(&self, cpu: usize) {
        let stage = &self.host.stage;
        if !stage.suffers(Sabotage::LoseWakes) {
            let delay = stage.rng().between(0, 5_000);
            stage.after(delay, Event::Wake(self.host.life, cpu));
        }
    }

    fn interrupt(&self, cpu: usize) {
        let stage = &self.host.stage;
        let delay = stage.rng().between(0, 5_000);
        stage.after(delay, Event::Interrupt(self.host.life, cpu));
    }

    fn set_attention(&self, attention: Attention) {
        if !self.host.is_dead() {
            self.attention.set(attention);
        }
    }

    fn doorbells(&self) -> u64 {
        self.bells.load(Relaxed)
    }

    fn send_control(&self, frame: ToCoordinator) {
        if self.host.is_dead() {
            return;
        }
        let life = self.host.life;
        self.host.stage.note(format_args!("{life:?} says {frame:?}"));
        if let ToCoordinator::Exited { process, .. } = frame {
            self.host.stage.state(Fact::Ended(process));
        }
        let forgets = matches!(
            frame,
            ToCoordinator::Unregister { .. } | ToCoordinator::Exited { .. }
        );
        if forgets && self.host.stage.suffers(Sabotage::KeepNames) {
            return;
        }
        let event = Event::ToCoordinator(life, frame);
        self.host.stage.to_coordinator(life, event);
    }

    /// While a kernel call polls, others run.
    fn relax(&self) {
        let stage = &self.host.stage;
        let others = stage.rng().chance(stage.scenario.interludes);
        if others {
            pass(Signal::Interlude);
        }
    }

    fn poll_budget(&self) -> u64 {
        u64::from(self.polls)
    }
}
