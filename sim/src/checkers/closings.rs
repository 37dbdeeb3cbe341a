//! Whoever served a client learns of its end: no channel outlives the other side.
//!
//! A crash counts as an end like any other. `sabotage.rs` shows that it can fail.

use super::{AtRest, Checker};
use crate::{events::Life, facts::Fact};
use satrap_abi::ProcessId;
use std::collections::{BTreeMap, BTreeSet};

/// The checker: the accepted channels of living processes.
#[derive(Default)]
pub struct Closings {
    open: BTreeSet<(ProcessId, u32)>,
    lives: BTreeMap<ProcessId, Life>,
}

impl Checker for Closings {
    fn name(&self) -> &'static str {
        "closings"
    }

    fn observe(&mut self, fact: &Fact) -> Result<(), String> {
        match *fact {
            Fact::Started(process, life, _) => drop(self.lives.insert(process, life)),
            Fact::Accepted(process, endpoint) => drop(self.open.insert((process, endpoint))),
            Fact::Dismissed(process, endpoint) => drop(self.open.remove(&(process, endpoint))),
            Fact::Ended(process) => self.open.retain(|(own, _)| *own != process),
            Fact::KernelDied(life) => self.open.retain(|(own, _)| self.lives.get(own) != Some(&life)),
            _ => {}
        }
        Ok(())
    }

    fn at_rest(&mut self, world: &AtRest) -> Result<(), String> {
        match self.open.first() {
            Some((process, endpoint)) if world.clients_done => Err(format!(
                "process {process} was never told that the client at its endpoint {endpoint} has gone"
            )),
            _ => Ok(()),
        }
    }
}
