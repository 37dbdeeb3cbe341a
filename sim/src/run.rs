//! One run: a scenario and a seed in, a digest of everything that happened and perhaps a failure out.
//!
//! The same pair gives the same digest, always: whoever has the seed of a failure has the failure.
//! `scenario.rs` and `events.rs` go in, `trace.rs` comes out.

use crate::{checkers::Violation, scenario::Scenario, stage::Stage, world::World};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

/// A broken promise.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The checker that saw it.
    pub checker: &'static str,
    /// What it saw.
    pub what: String,
    /// The last lines of the trace.
    pub tail: Vec<String>,
}

/// What came of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// Digest of the trace: equal runs have equal digests.
    pub digest: u64,
    /// Lines of the trace.
    pub lines: u64,
    /// Turns that CPUs took.
    pub turns: usize,
    /// Virtual time that passed, in ns.
    pub time: u64,
    /// What went wrong.
    pub failure: Option<Failure>,
}

/// Runs a scenario with a seed. `verbose` prints the trace to standard error.
pub fn run(scenario: &Scenario, seed: u64, verbose: bool) -> Outcome {
    World::prepare();
    let stage = Arc::new(Stage::new(scenario.clone(), seed, verbose));
    let world = World::new(stage.clone());
    let panicked = catch_unwind(AssertUnwindSafe(|| world.run())).is_err();
    let crashed = panicked.then(|| Violation {
        checker: "panics",
        what: "a kernel or the simulation panicked; the message stands above".to_owned(),
    });
    let violation = stage.checkers().violation().cloned().or(crashed);
    let trace = stage.trace();
    let failure = violation.map(|Violation { checker, what }| Failure {
        checker,
        what,
        tail: trace.tail(),
    });
    Outcome {
        digest: trace.digest(),
        lines: trace.lines(),
        turns: world.turns(),
        time: stage.now(),
        failure,
    }
}
