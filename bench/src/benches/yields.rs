//! Helios §4.5.1 and figure 9: threads that do nothing but yield, on one kernel with two cores and on two.

use super::Outcome;
use crate::failure::{Failure, Result};
use crate::figure::{Goal, Subject};
use crate::lab::Lab;
use crate::system::{System, YIELD, YIELD_ONE};

/// All of them, whatever they are spread over.
const THREADS: u64 = 16;

/// Sixteen threads of one process on one satellite, as the paper has it, and of two processes on one and on two.
pub fn run(lab: &Lab) -> Result<Outcome> {
    let (two, shared) = (lab.on_pair(2)?, lab.on_pair(1)?);
    let yields = lab.count(1_000_000);
    let [apart, one, together] = lab.compare([
        Box::new(|| rate(&two, YIELD, 2, yields)),
        Box::new(|| rate(&shared, YIELD_ONE, 1, yields)),
        Box::new(|| rate(&shared, YIELD, 2, yields)),
    ])?;
    let subject = |baseline: &str| Subject {
        bench: "yield",
        case: "16 threads, two satellites".into(),
        unit: "M/s",
        baseline: baseline.into(),
    };
    Ok(Outcome {
        figures: vec![
            subject("16 threads, one satellite").figure(&apart, &one, Goal::RatioAtLeast(1.6)),
            subject("as two processes, one satellite").figure(&apart, &together, Goal::None),
        ],
        limit:
            "a switch of coroutines and the run queue. Threads of a process take turns, so that the sixteen of one \
                process use one core wherever they run; as two processes one satellite runs them on both cores, and \
                about as fast as two do, for its cores share no run queue: the lock that Helios measured is not there"
                .into(),
    })
}

/// Millions of yields a second, from the first thread's start to the last one's end.
fn rate(system: &System, manifest: &str, processes: u64, yields: u64) -> Result<f64> {
    let args = [&*(THREADS / processes).to_string(), &*yields.to_string()];
    let lines = system.run(system.manifest(manifest), &args, &[])?;
    if lines.len() as u64 != processes {
        return Err(Failure::new(
            "a process of the yield bench has not said how long it took",
        ));
    }
    let (mut start, mut end) = (f64::MAX, 0.0f64);
    for line in &lines {
        start = start.min(line.get("start_ns")?);
        end = end.max(line.get("end_ns")?);
    }
    Ok((THREADS * yields) as f64 / (end - start) * 1e3)
}
