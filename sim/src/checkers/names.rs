//! Names converge: when nothing moves, the namespace holds exactly the names of living services.
//!
//! What should be there is derived from the living processes, not from the coordinator's own books.
//! `sabotage.rs` shows that it can fail.

use super::{AtRest, Checker};
use crate::{events::Life, facts::Fact};
use satrap_abi::ProcessId;
use std::collections::BTreeMap;

/// The checker: which living process has which name.
#[derive(Default)]
pub struct Names {
    names: BTreeMap<String, ProcessId>,
    lives: BTreeMap<ProcessId, Life>,
}

impl Checker for Names {
    fn name(&self) -> &'static str {
        "names"
    }

    fn observe(&mut self, fact: &Fact) -> Result<(), String> {
        match fact {
            Fact::Started(process, life, _) => drop(self.lives.insert(*process, *life)),
            Fact::Registered(process, path) => drop(self.names.insert(path.clone(), *process)),
            Fact::Ended(process) => self.names.retain(|_, owner| owner != process),
            Fact::KernelDied(life) => self.names.retain(|_, owner| self.lives.get(owner) != Some(life)),
            _ => {}
        }
        Ok(())
    }

    fn at_rest(&mut self, world: &AtRest) -> Result<(), String> {
        if world.names == self.names {
            Ok(())
        } else {
            Err(format!(
                "the namespace holds {:?}, living services have {:?}",
                world.names, self.names
            ))
        }
    }
}
