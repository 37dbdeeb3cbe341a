//! Remote message passing: two processes on two satellites, each on a core of its own (Helios §3.6).

use super::lmp::{APART, each};
use super::{Outcome, size};
use crate::baseline::{eventfd, line, memcpy};
use crate::failure::Result;
use crate::figure::{Figure, Goal, Number, Subject};
use crate::lab::Lab;
use crate::sample::Samples;
use crate::system::System;
use std::time::Duration;

/// As the guest pauses in its case `idle`.
const PAUSE: Duration = Duration::from_millis(2);

/// A round trip while both poll beside that of a cache line.
pub fn inline(lab: &Lab) -> Result<Outcome> {
    let (system, cores) = (lab.on_pair(2)?, lab.pair()?);
    let (trips, raw_trips) = (lab.count(300_000), lab.count(500_000));
    let [value, baseline] = lab.compare([
        Box::new(|| each(&system, "inline", 0, trips, APART)),
        Box::new(|| line::round_trip(cores, raw_trips)),
    ])?;
    let subject = Subject {
        bench: "rmp",
        case: "inline, 32 B, polling".into(),
        unit: "ns",
        baseline: "cache line there and back".into(),
    };
    let ours = value.median() - baseline.median();
    Ok(Outcome {
        figures: vec![subject.figure(&value, &baseline, Goal::RatioAtMost(3.0))],
        limit: format!(
            "{} ns of it are the cache line's own way there and back, which nothing can undercut; the other {} ns go \
             to four kernel calls' worth of work: ring slots, the contract's step, and switches from the poll loop to \
             the process",
            Number(baseline.median()),
            Number(ours)
        ),
    })
}

/// Bandwidth of blocks beside memcpy.
pub fn by_size(lab: &Lab) -> Result<Outcome> {
    let (system, cores) = (lab.on_pair(2)?, lab.pair()?);
    let mut figures = Vec::new();
    for (bytes, goal) in [
        (64 << 10, Goal::None),
        (256 << 10, Goal::None),
        (1 << 20, Goal::RatioAtLeast(0.7)),
    ] {
        let count = lab.count((2 << 30) / bytes as u64);
        let samples = lab.compare([
            Box::new(|| each(&system, "stream", bytes, count, APART)),
            Box::new(|| memcpy::one_way(cores, bytes, count)),
        ])?;
        figures.push(bandwidth("one way", "write, then memcpy", bytes, &samples, goal));
    }
    let bytes = 1 << 20;
    let count = lab.count(1000);
    let samples = lab.compare([
        Box::new(|| Ok(each(&system, "block", bytes, count, APART)? / 2.0)),
        Box::new(|| memcpy::to_and_fro(cores, bytes, count)),
    ])?;
    figures.push(bandwidth(
        "to and fro",
        "memcpy to and fro",
        bytes,
        &samples,
        Goal::None,
    ));
    Ok(Outcome {
        figures,
        limit: "one copy, from the sender's exchange heap into the receiver's, at the speed of lines that lie in the \
                other core's cache; the sender also zeroes each new block, as the baseline writes each payload"
            .into(),
    })
}

fn bandwidth(case: &str, baseline: &str, bytes: usize, [value, other]: &[Samples; 2], goal: Goal) -> Figure {
    // Bytes a nanosecond are gigabytes a second.
    let rate = |samples: &Samples| samples.map(|ns| bytes as f64 / ns);
    let subject = Subject {
        bench: "rmp",
        case: format!("blocks {case}, {}", size(bytes)),
        unit: "GB/s",
        baseline: baseline.into(),
    };
    subject.figure(&rate(value), &rate(other), goal)
}

/// A round trip that wakes the receiver beside one of eventfds.
pub fn idle(lab: &Lab) -> Result<Outcome> {
    let (system, cores): (System, _) = (lab.on_pair(2)?, lab.pair()?);
    let trips = lab.count(200);
    let [value, baseline] = lab.compare([
        Box::new(|| each(&system, "idle", 0, trips, APART)),
        Box::new(|| eventfd::round_trip(cores, trips, PAUSE)),
    ])?;
    let subject = Subject {
        bench: "rmp",
        case: "inline, 32 B, asleep".into(),
        unit: "us",
        baseline: "eventfd, two cores".into(),
    };
    let micro = |samples: &Samples| samples.map(|ns| ns / 1000.0);
    Ok(Outcome {
        figures: vec![subject.figure(&micro(&value), &micro(&baseline), Goal::RatioAtMost(1.3))],
        limit: "Linux waking a thread on another core; the sender rings once and polls for the answer, so that one \
                wake-up is paid where two eventfds pay two"
            .into(),
    })
}
