//! What a run consists of: how many of everything, and how often things go wrong.
//!
//! It is data, so that a failing run can be cut down by hand. `run.rs` plays it.

use crate::{rng::Rng, sabotage::Sabotage};

/// Rates are per mille, times in ns of virtual time.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its name.
    pub name: &'static str,
    /// Fewest and most kernels.
    pub kernels: (u64, u64),
    /// Most CPUs of a kernel.
    pub cpus: u64,
    /// Fewest and most clients of each kind: echo, flow, pairs of the broker, heirs.
    pub clients: [(u64, u64); 4],
    /// Whether a process tries to take more than its limits.
    pub hoarder: bool,
    /// Most kernels that crash.
    pub crashes: u64,
    /// Most processes that are killed.
    pub strikes: u64,
    /// Until when kernels crash and processes are killed.
    pub unrest: u64,
    /// Doorbells that are lost.
    pub lost_bells: u32,
    /// Kernel calls before which the thread is preempted.
    pub preempted: u32,
    /// Kernel calls before which other CPUs run.
    pub interludes: u32,
    /// How the run is broken on purpose.
    pub sabotage: Sabotage,
}

/// Without any fault: kernels live and doorbells arrive.
const CALM: Scenario = Scenario {
    name: "calm",
    kernels: (2, 4),
    cpus: 2,
    clients: [(1, 4), (0, 2), (0, 2), (0, 3)],
    hoarder: true,
    crashes: 0,
    strikes: 0,
    unrest: 3_000_000,
    lost_bells: 0,
    preempted: 20,
    interludes: 150,
    sabotage: Sabotage::None,
};

/// The scenarios, by name. The first is the default.
pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "mixed",
        crashes: 3,
        strikes: 4,
        lost_bells: 100,
        ..CALM
    },
    CALM,
    Scenario {
        name: "crashes",
        crashes: 5,
        strikes: 6,
        lost_bells: 20,
        ..CALM
    },
    Scenario {
        name: "bells",
        lost_bells: 500,
        ..CALM
    },
    Scenario {
        name: "flow",
        kernels: (2, 2),
        cpus: 1,
        clients: [(0, 0), (1, 1), (0, 0), (0, 0)],
        hoarder: false,
        ..CALM
    },
    // So many senders that rings are full and frames wait behind them.
    Scenario {
        name: "flood",
        kernels: (2, 2),
        clients: [(0, 1), (4, 7), (0, 1), (0, 1)],
        crashes: 1,
        strikes: 2,
        lost_bells: 50,
        ..CALM
    },
];

impl Scenario {
    /// The scenario of that name.
    pub fn named(name: &str) -> Option<Scenario> {
        SCENARIOS.iter().find(|scenario| scenario.name == name).cloned()
    }

    /// The same, broken on purpose.
    pub fn with(self, sabotage: Sabotage) -> Scenario {
        Scenario { sabotage, ..self }
    }

    /// Draws this run's rates: some runs are calmer than the scenario allows, so that faults come alone too.
    pub fn drawn(mut self, rng: &mut Rng) -> Scenario {
        self.crashes = rng.below(self.crashes + 1);
        self.strikes = rng.below(self.strikes + 1);
        self.lost_bells = rng.below(u64::from(self.lost_bells) + 1) as u32;
        self.preempted = rng.below(u64::from(self.preempted) * 2 + 1) as u32;
        self.interludes = rng.below(u64::from(self.interludes) * 2 + 1) as u32;
        self
    }
}
