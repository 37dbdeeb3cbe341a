//! From counters to rates: pure, so that it can be tested without a clock.
//!
//! A counter that fell, because an endpoint went elsewhere, has no rate until the next sample. `view.rs` draws.

use crate::commands::ps;
use satrap_coordinator::api::{Channel, Kernel, Process, ProcessState};
use serde::Serialize;
use std::{
    collections::{BTreeMap, HashMap},
    time::Instant,
};

/// Counters at one moment.
pub struct Sample {
    pub at: Instant,
    pub kernels: Vec<Kernel>,
    pub processes: Vec<Process>,
    pub channels: Vec<Channel>,
}

/// What went on between two samples.
#[derive(Debug, Serialize)]
pub struct Rates {
    /// The satellites as they are.
    pub kernels: Vec<Kernel>,
    /// Live processes.
    pub processes: Vec<ProcessRate>,
    /// Channels of live processes.
    pub channels: Vec<ChannelRate>,
}

/// One process.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ProcessRate {
    pub id: u64,
    pub name: String,
    pub kernel: Option<u16>,
    pub state: ProcessState,
    /// Share of one CPU, 0 to 1 and above with several.
    pub cpu: f64,
    /// In bytes.
    pub memory: u64,
    pub threads: u32,
}

/// All endpoints that one process has or had under one name to one satellite.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ChannelRate {
    pub process: u64,
    pub process_name: String,
    pub kernel: u16,
    pub name: String,
    /// The satellite of the other end.
    pub peer: u16,
    pub endpoints: u32,
    /// Messages a second.
    pub sent: f64,
    /// Messages a second.
    pub received: f64,
    /// Payload bytes a second, both ways.
    pub bytes: f64,
    /// Copies of payload a second.
    pub copies: f64,
}

/// What makes a line of channels.
type Key<'a> = (u64, &'a str, u16);

/// Counters of a line, added up.
#[derive(Clone, Copy, Default)]
struct Counters {
    endpoints: u32,
    sent: u64,
    received: u64,
    bytes: u64,
    copies: u64,
}

impl Rates {
    /// Rates from one sample to a later one. A counter that was not there before, or fell because an endpoint
    /// went to another process, has no rate yet.
    pub fn between(before: &Sample, after: &Sample) -> Rates {
        let seconds = (after.at - before.at).as_secs_f64();
        let live = |process: &&Process| process.state != ProcessState::Exited;
        let used: HashMap<u64, u64> = before.processes.iter().map(|p| (p.id, p.cpu_ns)).collect();
        let processes = after.processes.iter().filter(live).map(|process| {
            let since = used.get(&process.id).copied().unwrap_or(process.cpu_ns);
            ProcessRate {
                id: process.id,
                name: ps::full_name(process),
                kernel: process.kernel,
                state: process.state,
                cpu: rate(since, process.cpu_ns, seconds) / 1e9,
                memory: process.memory,
                threads: process.threads,
            }
        });
        Rates {
            kernels: after.kernels.clone(),
            processes: processes.collect(),
            channels: channels(&before.channels, &after.channels, seconds),
        }
    }
}

fn channels(before: &[Channel], after: &[Channel], seconds: f64) -> Vec<ChannelRate> {
    let before = add_up(before);
    let lines = add_up(after).into_iter().map(|(key, (channel, now))| {
        let then = before.get(&key).map_or(now, |(_, then)| *then);
        ChannelRate {
            process: channel.process,
            process_name: channel.process_name.clone(),
            kernel: channel.kernel,
            name: channel.name.clone(),
            peer: channel.peer,
            endpoints: now.endpoints,
            sent: rate(then.sent, now.sent, seconds),
            received: rate(then.received, now.received, seconds),
            bytes: rate(then.bytes, now.bytes, seconds),
            copies: rate(then.copies, now.copies, seconds),
        }
    });
    lines.collect()
}

fn add_up(channels: &[Channel]) -> BTreeMap<Key<'_>, (&Channel, Counters)> {
    let mut lines = BTreeMap::new();
    for channel in channels {
        let key = (channel.process, channel.name.as_str(), channel.peer);
        let (_, sum) = lines.entry(key).or_insert((channel, Counters::default()));
        sum.endpoints += channel.endpoints;
        sum.sent += channel.sent;
        sum.received += channel.received;
        sum.bytes += channel.bytes_sent + channel.bytes_received;
        sum.copies += channel.copies;
    }
    lines
}

fn rate(before: u64, after: u64, seconds: f64) -> f64 {
    if seconds > 0.0 {
        after.saturating_sub(before) as f64 / seconds
    } else {
        0.0
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::testing::{channel, kernel, process};
    use std::time::Duration;

    pub fn samples() -> (Sample, Sample) {
        let at = Instant::now();
        let before = Sample {
            at,
            kernels: vec![],
            processes: vec![process(7, 0), process(8, 0)],
            channels: vec![
                channel(7, "store", 10),
                channel(7, "store", 5),
                channel(8, "front", 50),
            ],
        };
        let after = Sample {
            at: at + Duration::from_secs(2),
            kernels: vec![kernel(1, 0.25), kernel(2, 1.0)],
            processes: vec![process(7, 1_000_000_000), process(8, 0), process(9, 5)],
            channels: vec![
                channel(7, "store", 40),
                channel(7, "store", 5),
                channel(8, "front", 3),
            ],
        };
        (before, after)
    }

    #[test]
    fn rates_are_differences_over_time() {
        let (before, after) = samples();
        let rates = Rates::between(&before, &after);
        assert_eq!(
            rates.processes.iter().map(|p| p.cpu).collect::<Vec<_>>(),
            [0.5, 0.0, 0.0]
        );
        let store = &rates.channels[0];
        assert_eq!((store.endpoints, store.sent, store.bytes), (2, 15.0, 1500.0));
    }

    #[test]
    fn a_counter_that_fell_has_no_rate() {
        let (before, after) = samples();
        assert_eq!(Rates::between(&before, &after).channels[1].sent, 0.0);
        assert_eq!(Rates::between(&after, &after).channels[0].sent, 0.0);
    }
}
