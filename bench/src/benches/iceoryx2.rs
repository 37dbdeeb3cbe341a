//! Beside iceoryx2, by the method of its own publish-subscribe benchmark: a buffer there and a buffer of the
//! same size back, never copied; one way is half of it.
//!
//! iceoryx2 runs in a program of its own (`bench/iceoryx2`), so that nothing else is built with it.

use super::lmp::{APART, SIZES, TOGETHER, each};
use super::{Outcome, size};
use crate::failure::{About, Failure, Result};
use crate::figure::{Figure, Goal, Subject};
use crate::lab::Lab;
use crate::system::System;
use std::process::Command;

const PROGRAM: &str = "satrap-bench-iceoryx2";

/// One core, then two.
pub fn run(lab: &Lab) -> Result<Outcome> {
    let mut figures = Vec::new();
    let core = lab.core();
    beside(lab, &lab.one()?, [core, core], TOGETHER, &mut figures)?;
    beside(lab, &lab.on_pair(2)?, lab.pair()?, APART, &mut figures)?;
    Ok(Outcome {
        figures,
        limit: "on one core a switch between the two, which is a coroutine's here and the scheduler's there; on two \
                cores the cache lines that carry a message, its buffer's first line and the buffer's return"
            .into(),
    })
}

fn beside(
    lab: &Lab,
    system: &System,
    cores: [usize; 2],
    placed: &'static str,
    figures: &mut Vec<Figure>,
) -> Result<()> {
    let trips = lab.count(50_000);
    let (words, goal) = match cores[0] == cores[1] {
        true => ("one core", 1.0),
        false => ("two cores", 1.2),
    };
    for bytes in SIZES {
        let [value, baseline] = lab.compare([
            Box::new(|| Ok(each(system, "toss", bytes, trips, placed)? / 2.0)),
            Box::new(|| theirs(bytes, trips, cores)),
        ])?;
        let subject = Subject {
            bench: "lmp",
            case: format!("one way, {words}, {}", size(bytes)),
            unit: "ns",
            baseline: format!("iceoryx2, {words}"),
        };
        figures.push(subject.figure(&value, &baseline, Goal::RatioAtMost(goal)));
    }
    Ok(())
}

/// Nanoseconds one way, as iceoryx2 has it.
fn theirs(bytes: usize, trips: u64, cores: [usize; 2]) -> Result<f64> {
    let numbers = [bytes as u64, trips, cores[0] as u64, cores[1] as u64];
    let output = Command::new(crate::programs::find(PROGRAM)?)
        .args(numbers.map(|number| number.to_string()))
        .output()
        .about(format_args!(
            "running {PROGRAM} (cargo build --release -p {PROGRAM} builds it)"
        ))?;
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr);
        return Err(Failure::new(format!("{PROGRAM} failed: {}", words.trim())));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    text.trim()
        .parse()
        .about(format_args!("the answer of {PROGRAM}, `{}`", text.trim()))
}
