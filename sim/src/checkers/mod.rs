//! What must hold, whatever happens. Each checker hears every fact and judges for itself; the first violation
//! ends the run.
//!
//! They know nothing of the kernel's inside and nothing of the workload's plans. `sim/tests/checkers.rs` shows
//! for each that it can fail.

mod blocks;
mod closings;
mod delivery;
mod faults;
mod limits;
mod names;
mod rest;

pub use rest::{AtRest, Leftover};

use crate::facts::Fact;

/// A broken promise.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// The checker that saw it.
    pub checker: &'static str,
    /// What it saw.
    pub what: String,
}

/// A promise and what must be remembered to judge it.
pub trait Checker: Send {
    /// Its name.
    fn name(&self) -> &'static str;

    /// Hears a fact; what is wrong with it.
    fn observe(&mut self, fact: &Fact) -> Result<(), String>;

    /// Judges a world in which nothing moves any more; what is wrong with it.
    fn at_rest(&mut self, _world: &AtRest) -> Result<(), String> {
        Ok(())
    }
}

/// All checkers of a run.
pub struct Checkers {
    all: Vec<Box<dyn Checker>>,
    first: Option<Violation>,
}

impl Checkers {
    /// One of each.
    pub fn new() -> Checkers {
        Checkers {
            all: vec![
                Box::new(delivery::Delivery::default()),
                Box::new(blocks::Blocks::default()),
                Box::new(closings::Closings::default()),
                Box::new(names::Names::default()),
                Box::new(limits::LimitsHold::default()),
                Box::new(faults::NoFaults),
                Box::new(rest::Progress),
                Box::new(rest::NothingLeft),
            ],
            first: None,
        }
    }

    /// Tells every checker.
    pub fn observe(&mut self, fact: &Fact) {
        self.judge(|checker| checker.observe(fact));
    }

    /// Lets every checker judge a world at rest.
    pub fn at_rest(&mut self, world: &AtRest) {
        self.judge(|checker| checker.at_rest(world));
    }

    fn judge(&mut self, mut verdict: impl FnMut(&mut dyn Checker) -> Result<(), String>) {
        for checker in &mut self.all {
            if let Err(what) = verdict(&mut **checker) {
                let checker = checker.name();
                self.first.get_or_insert(Violation { checker, what });
            }
        }
    }

    /// The first broken promise.
    pub fn violation(&self) -> Option<&Violation> {
        self.first.as_ref()
    }
}
