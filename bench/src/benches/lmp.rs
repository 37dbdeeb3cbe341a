//! Local message passing: two processes of one satellite on one core (Helios figure 5).

use super::{Outcome, size};
use crate::baseline;
use crate::failure::Result;
use crate::figure::{Goal, Subject};
use crate::lab::Lab;
use crate::sample::Side;
use crate::system::{LMP, System};

/// The override that puts both processes on one satellite.
pub const TOGETHER: &str = "client.lmp=1";
/// The override that puts them on two.
pub const APART: &str = "client.lmp=-1";

/// Payloads by size.
pub const SIZES: [usize; 5] = [64, 1 << 10, 16 << 10, 256 << 10, 1 << 20];

/// Nanoseconds of each message of `case`.
pub fn each(system: &System, case: &str, bytes: usize, count: u64, placed: &str) -> Result<f64> {
    let args = [case, &bytes.to_string(), &count.to_string()];
    let lines = system.run(system.manifest(LMP), &args, &[placed])?;
    lines.first().cloned().unwrap_or_default().get("ns_each")
}

/// A round trip with inline arguments beside one through pipes.
pub fn inline(lab: &Lab) -> Result<Outcome> {
    let (system, core) = (lab.one()?, lab.core());
    let (trips, pipe_trips) = (lab.count(400_000), lab.count(30_000));
    let [value, baseline] = lab.compare([
        Box::new(|| each(&system, "inline", 0, trips, TOGETHER)),
        Box::new(|| baseline::pipe::round_trip(core, pipe_trips)),
    ])?;
    let subject = Subject {
        bench: "lmp",
        case: "inline, 32 B".into(),
        unit: "ns",
        baseline: "pipe, one core".into(),
    };
    Ok(Outcome {
        figures: vec![subject.figure(&value, &baseline, Goal::RatioAtMost(1.0 / 15.0))],
        limit:
            "two switches of coroutines and two kernel calls; the rest is the contract's step, the copy of a \
                96-byte message out of and into guest memory, and the run queue"
                .into(),
    })
}

/// Blocks and pooled buffers of all sizes beside the smallest.
pub fn by_size(lab: &Lab) -> Result<Outcome> {
    let system = lab.one()?;
    let trips = lab.count(100_000);
    let mut figures = Vec::new();
    for (case, name) in [("block", "moved block"), ("pool", "pooled buffer")] {
        let sides = SIZES.map(|bytes| -> Side<'_> {
            let system = &system;
            Box::new(move || each(system, case, bytes, trips, TOGETHER))
        });
        let samples = lab.compare(sides)?;
        for (bytes, sample) in SIZES.iter().zip(&samples).skip(1) {
            let subject = Subject {
                bench: "lmp",
                case: format!("{name}, {}", size(*bytes)),
                unit: "ns",
                baseline: format!("{name}, 64 B"),
            };
            figures.push(subject.figure(sample, &samples[0], Goal::RatioAtMost(1.3)));
        }
    }
    Ok(Outcome {
        figures,
        limit: "flat by construction: a descriptor moves and the payload does not; beyond inline, the time goes to \
                the block's change of owner, or to acquiring and releasing a buffer"
            .into(),
    })
}
