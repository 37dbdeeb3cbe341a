//! Limits hold: no process has more handles, threads or memory than it was started with leave for.
//!
//! `workload/hoarder.rs` takes all it can get and reports; `sabotage.rs` shows that it can fail.

use super::Checker;
use crate::facts::Fact;
use satrap_abi::{ProcessId, control::ProcessStats, limits::Limits};
use std::collections::BTreeMap;

/// The checker.
#[derive(Default)]
pub struct LimitsHold {
    limits: BTreeMap<ProcessId, Limits>,
}

impl Checker for LimitsHold {
    fn name(&self) -> &'static str {
        "limits"
    }

    fn observe(&mut self, fact: &Fact) -> Result<(), String> {
        match fact {
            Fact::Started(process, _, limits) => drop(self.limits.insert(*process, *limits)),
            Fact::Usage(stats) => return self.usage(stats),
            Fact::Full(process, handles, threads) => return self.full(*process, *handles, *threads),
            _ => {}
        }
        Ok(())
    }
}

impl LimitsHold {
    fn usage(&self, stats: &ProcessStats) -> Result<(), String> {
        let Some(limits) = self.limits.get(&ProcessId(stats.process)) else {
            return Ok(());
        };
        let memory = limits.memory + limits.exchange + u64::from(limits.threads) * u64::from(limits.stack);
        let within =
            stats.handles <= limits.handles && stats.threads <= limits.threads && stats.memory <= memory;
        if within {
            Ok(())
        } else {
            Err(format!("{stats:?} is beyond {limits:?}"))
        }
    }

    /// A process that took until it was refused has exactly what it may have.
    fn full(&self, process: ProcessId, handles: u32, threads: u32) -> Result<(), String> {
        match self.limits.get(&process) {
            Some(limits) if (handles, threads) != (limits.handles, limits.threads) => Err(format!(
                "process {process} was refused more at {handles} handles and {threads} threads; its limits \
                 are {} and {}",
                limits.handles, limits.threads
            )),
            _ => Ok(()),
        }
    }
}
