//! In which order the processes of an application are placed: services before their clients.
//!
//! An affinity to a service that has no place yet counts for nothing, so a client waits for the services
//! that it names. Where they wait for each other in a circle, the manifest's order decides, as it does
//! between processes that do not depend on each other. The order does not depend on any affinity's value:
//! changing a number moves processes, never the order.

use std::collections::{BTreeMap, BTreeSet};

use crate::world::Request;

/// Indices of `requests` in the order to place them: stable, services before their clients, circles by
/// position.
pub fn order(requests: &[Request]) -> Vec<usize> {
    let graph = Graph::new(requests);
    let reaches: Vec<Vec<bool>> = (0..requests.len())
        .map(|client| graph.reached_from(client))
        .collect();
    let mut clients: Vec<Vec<usize>> = vec![Vec::new(); requests.len()];
    let mut waits_for: Vec<usize> = vec![0; requests.len()];
    for client in 0..requests.len() {
        for service in (0..requests.len()).filter(|&service| reaches[client][service]) {
            // A service that depends on this client in turn is not waited for.
            if !reaches[service][client] {
                clients[service].push(client);
                waits_for[client] += 1;
            }
        }
    }
    let mut ready: BTreeSet<usize> = (0..requests.len()).filter(|&each| waits_for[each] == 0).collect();
    let mut order = Vec::with_capacity(requests.len());
    while let Some(next) = ready.pop_first() {
        order.push(next);
        for &client in &clients[next] {
            waits_for[client] -= 1;
            if waits_for[client] == 0 {
                ready.insert(client);
            }
        }
    }
    order
}

/// Who serves whom, by way of paths, so that a thousand clients of a thousand copies stay cheap.
struct Graph<'a> {
    requests: &'a [Request],
    providers: BTreeMap<&'a str, Vec<usize>>,
}

impl<'a> Graph<'a> {
    fn new(requests: &'a [Request]) -> Graph<'a> {
        let mut providers: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (index, request) in requests.iter().enumerate() {
            for path in &request.registers {
                providers.entry(path).or_default().push(index);
            }
        }
        Graph { requests, providers }
    }

    fn providers_of(&self, path: &str) -> &[usize] {
        self.providers.get(path).map_or(&[], Vec::as_slice)
    }

    /// Which processes `start` depends on, directly or not, itself included.
    fn reached_from(&self, start: usize) -> Vec<bool> {
        let mut reached = vec![false; self.requests.len()];
        let mut paths_seen: BTreeSet<&str> = BTreeSet::new();
        let mut pending = vec![start];
        reached[start] = true;
        while let Some(process) = pending.pop() {
            for channel in &self.requests[process].channels {
                if !paths_seen.insert(&channel.path) {
                    continue;
                }
                for &service in self.providers_of(&channel.path) {
                    if !reached[service] {
                        reached[service] = true;
                        pending.push(service);
                    }
                }
            }
        }
        reached
    }
}
