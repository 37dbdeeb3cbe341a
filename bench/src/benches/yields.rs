//! Helios §4.5.1 and figure 9: threads that do nothing but yield, on one kernel with two cores and on two.

use super::Outcome;
use crate::failure::{Failure, Result};
use crate::figure::{Goal, Subject};
use crate::lab::Lab;
use crate::system::{System, YIELD};

/// Of each of the two processes.
const THREADS: u64 = 8;
const PROCESSES: u64 = 2;

/// One satellite that has both cores against two that have one each.
pub fn run(lab: &Lab) -> Result<Outcome> {
    let (two, shared, alone) = (lab.on_pair(2)?, lab.on_pair(1)?, lab.one()?);
    let yields = lab.count(1_000_000);
    let [two, shared, alone] = lab.compare([
        Box::new(|| rate(&two, yields)),
        Box::new(|| rate(&shared, yields)),
        Box::new(|| rate(&alone, yields)),
    ])?;
    let subject = |case: &str, baseline: &str| Subject {
        bench: "yield",
        case: case.into(),
        unit: "M/s",
        baseline: baseline.into(),
    };
    Ok(Outcome {
        figures: vec![
            subject("two satellites", "one satellite, two cores").figure(
                &two,
                &shared,
                Goal::RatioAtLeast(1.6),
            ),
            subject("two satellites", "one satellite, one core").figure(&two, &alone, Goal::None),
        ],
        limit:
            "a switch of coroutines and the run queue; two satellites share nothing, so that what keeps one \
                satellite's cores from doubling is its lock and the lines that both cores write"
                .into(),
    })
}

/// Millions of yields a second, from the first thread's start to the last one's end.
fn rate(system: &System, yields: u64) -> Result<f64> {
    let args = [&*THREADS.to_string(), &*yields.to_string()];
    let lines = system.run(system.manifest(YIELD), &args, &[])?;
    if lines.len() as u64 != PROCESSES {
        return Err(Failure::new(
            "a process of the yield bench has not said how long it took",
        ));
    }
    let (mut start, mut end) = (f64::MAX, 0.0f64);
    for line in &lines {
        start = start.min(line.get("start_ns")?);
        end = end.max(line.get("end_ns")?);
    }
    Ok((PROCESSES * THREADS * yields) as f64 / (end - start) * 1e3)
}
