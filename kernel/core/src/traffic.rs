//! What a process has sent and received, by the names of its channels, for those who watch it.
//!
//! An endpoint counts for itself (`endpoint.rs`); what a closed one has counted is kept here, so that channels
//! that live for one message are seen as well. Neighbour: `process.rs` has one for each process.

use crate::endpoint::Endpoint;
use alloc::{collections::BTreeMap, string::String};
use satrap_abi::{KernelId, ProcessId, control::ChannelStats};

/// Names that are told apart. What comes under more, a process's own fancy, is counted under no name.
const NAMES_MAX: usize = 64;

/// Counts of messages, by the endpoints' name and the peer's kernel.
#[derive(Clone, Default)]
pub(crate) struct Traffic(BTreeMap<(String, u16), ChannelStats>);

impl Traffic {
    /// Adds what an endpoint of this kernel has counted, which is still `open` or not.
    pub(crate) fn add(&mut self, endpoint: &Endpoint, own: KernelId, open: bool) {
        let peer = endpoint.remote_kernel().unwrap_or(own.0);
        let key = (endpoint.stats.name.clone(), peer);
        let key = match self.0.len() < NAMES_MAX || self.0.contains_key(&key) {
            true => key,
            false => (String::new(), peer),
        };
        let sum = self.0.entry(key).or_default();
        sum.add(&endpoint.stats);
        sum.endpoints += u32::from(open);
    }

    /// The counts, as figures of a process.
    pub(crate) fn of(self, process: ProcessId) -> impl Iterator<Item = ChannelStats> {
        self.0.into_iter().map(move |((name, peer), sum)| ChannelStats {
            process: process.0,
            name,
            peer,
            ..sum
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Message, channel};
    use alloc::{format, sync::Arc, vec, vec::Vec};
    use satrap_abi::Digest;
    use satrap_table::{MessageRule, Side, Spec, StateSpec, Table, TransitionSpec};

    fn contract() -> Arc<Table> {
        let spec = Spec {
            name: "test:talk/talk@1.0.0".into(),
            text_digest: Digest([0; 32]),
            rules: vec![MessageRule::EMPTY],
            states: vec![StateSpec {
                sender: Side::Client,
                transitions: vec![TransitionSpec { tag: 0, next: 0 }],
            }],
        };
        Arc::new(Table::parse(&spec.encode().unwrap()).unwrap())
    }

    #[test]
    fn what_closed_endpoints_counted_is_kept_by_name() {
        let contract = contract();
        let mut traffic = Traffic::default();
        for round in 0..3 {
            let (client, _service) = channel(&contract);
            let mut client = client.named("talk");
            client.try_send(&mut Message::new(0)).unwrap();
            traffic.add(&client, KernelId(1), round == 2);
        }
        let lines: Vec<ChannelStats> = traffic.of(ProcessId(7)).collect();
        assert_eq!(lines.len(), 1);
        assert_eq!(
            (
                lines[0].process,
                &*lines[0].name,
                lines[0].sent,
                lines[0].endpoints
            ),
            (7, "talk", 3, 1)
        );
    }

    #[test]
    fn a_process_that_invents_names_costs_only_so_much() {
        let contract = contract();
        let mut traffic = Traffic::default();
        for number in 0..1000 {
            let (client, _service) = channel(&contract);
            traffic.add(&client.named(&format!("talk-{number}")), KernelId(1), false);
        }
        assert!(traffic.of(ProcessId(7)).count() <= NAMES_MAX + 1);
    }
}
