//! The decision for a whole application: its processes one at a time, each seeing where the ones before it
//! went (Helios §3.7.3 places one process; the order is ours, see [`order`](crate::order())).

use serde::Serialize;

use crate::decide::{Decision, Refusal, place};
use crate::order::order;
use crate::world::{Request, World};

/// Where every process of an application goes.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Plan {
    /// Decisions, in the order in which they were made (and in which the processes are to be started).
    pub decisions: Vec<Decision>,
    /// Processes that can go nowhere.
    pub refusals: Vec<Refusal>,
}

impl Plan {
    /// The decision for the process called `process`.
    pub fn of(&self, process: &str) -> Option<&Decision> {
        self.decisions.iter().find(|decision| decision.process == process)
    }
}

/// Places `requests` one after another, services before their clients, without touching `world`.
///
/// A process that can go nowhere is noted in [`Plan::refusals`] and the others are still placed, so that all
/// such errors are seen at once.
pub fn plan(world: &World, requests: &[Request]) -> Plan {
    let mut world = world.clone();
    let mut plan = Plan::default();
    for request in order(requests).into_iter().map(|index| &requests[index]) {
        match place(&world, request) {
            Ok(decision) => {
                world.record(request, decision.kernel);
                plan.decisions.push(decision);
            }
            Err(refusal) => plan.refusals.push(refusal),
        }
    }
    plan
}
