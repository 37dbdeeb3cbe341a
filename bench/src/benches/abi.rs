//! What it costs a Wasm program to call its kernel, beside what it costs a Linux process.

use super::Outcome;
use crate::failure::Result;
use crate::figure::{Goal, Subject};
use crate::lab::Lab;
use crate::pin::Pinned;
use crate::sample::time_each;
use rustix::process::getppid;
use std::hint::black_box;

/// A null kernel call beside getppid.
pub fn run(lab: &Lab) -> Result<Outcome> {
    let (system, core) = (lab.one()?, lab.core());
    let calls = lab.count(20_000_000).to_string();
    let system_calls = lab.count(500_000);
    let null = || {
        let lines = system.run(system.program("bench-null"), &[&calls], &[])?;
        lines.first().cloned().unwrap_or_default().get("ns_each")
    };
    let linux = || {
        let _pinned = Pinned::to(&[core])?;
        Ok(time_each(system_calls, || {
            black_box(getppid());
        }))
    };
    let [value, baseline] = lab.compare([Box::new(null), Box::new(linux)])?;
    let subject = Subject {
        bench: "abi",
        case: "null call".into(),
        unit: "ns",
        baseline: "getppid".into(),
    };
    Ok(Outcome {
        figures: vec![subject.figure(&value, &baseline, Goal::RatioAtMost(1.0 / 25.0))],
        limit: "two indirect calls and the engine's note of where Wasm was left, which traps and preemption need; \
                no change of privilege, of stack or of address space"
            .into(),
    })
}
