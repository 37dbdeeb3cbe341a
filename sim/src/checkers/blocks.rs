//! A block has one owner: a process, or nobody while it travels. It never comes back from where it went.
//!
//! It judges by what the guests saw, never by what kernels say. `workload/line.rs` reports; `sabotage.rs`
//! shows that it can fail.

use super::Checker;
use crate::{events::Life, facts::Fact};
use satrap_abi::ProcessId;
use std::collections::BTreeMap;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Owner {
    Process(ProcessId),
    /// In a message.
    Travels,
    /// Closed, or gone with its process.
    Gone,
}

/// The checker: the ledger of all blocks.
#[derive(Default)]
pub struct Blocks {
    owners: BTreeMap<u64, Owner>,
    lives: BTreeMap<ProcessId, Life>,
}

impl Checker for Blocks {
    fn name(&self) -> &'static str {
        "blocks"
    }

    fn observe(&mut self, fact: &Fact) -> Result<(), String> {
        match *fact {
            Fact::Started(process, life, _) => drop(self.lives.insert(process, life)),
            Fact::Ended(process) => self.bury(|own| own == process),
            Fact::KernelDied(life) => {
                let lives = std::mem::take(&mut self.lives);
                self.bury(|own| lives.get(&own) == Some(&life));
                self.lives = lives;
            }
            Fact::BlockMade(stamp, process) => return self.pass(stamp, None, Owner::Process(process)),
            Fact::BlockLeaves(stamp, process) => {
                return self.pass(stamp, Some(Owner::Process(process)), Owner::Travels);
            }
            Fact::BlockStays(stamp, process) | Fact::BlockArrived(stamp, process) => {
                return self.pass(stamp, Some(Owner::Travels), Owner::Process(process));
            }
            Fact::BlockFreed(stamp, process) => {
                return self.pass(stamp, Some(Owner::Process(process)), Owner::Gone);
            }
            _ => {}
        }
        Ok(())
    }
}

impl Blocks {
    fn pass(&mut self, stamp: u64, from: Option<Owner>, to: Owner) -> Result<(), String> {
        let seen = self.owners.insert(stamp, to);
        if seen == from {
            Ok(())
        } else {
            Err(format!(
                "block {stamp:#x} went to {to:?}; its owner was {seen:?}, not {from:?}"
            ))
        }
    }

    fn bury(&mut self, dead: impl Fn(ProcessId) -> bool) {
        for owner in self.owners.values_mut() {
            if matches!(*owner, Owner::Process(process) if dead(process)) {
                *owner = Owner::Gone;
            }
        }
    }
}
