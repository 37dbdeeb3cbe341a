//! "What number would change the answer": the smallest change to one affinity that brings a process to
//! another kernel.
//!
//! As one affinity moves along the integers, the decision can only change where two candidates become equal
//! in some pass, or where the affinity changes sign. Between such breakpoints the order of all candidates in
//! all passes stands still. So it is enough to decide again at each breakpoint and at the integers next to
//! it: nothing is guessed, and nothing smaller exists.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use satrap_abi::KernelId;
use serde::Serialize;

use crate::AFFINITY_MAX;
use crate::decide::{Candidate, choose};
use crate::world::{Counts, Request, World};

/// Another value for one affinity. Ordered by the size of the change; among equals, affinities that
/// are stated already (not 0) come first, then by name.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Change {
    /// The affinity, as an override names it: `process.channel`, `process.self`, `process.platform:NAME`.
    pub number: String,
    /// Its value now.
    pub from: i32,
    /// Its value that would move the process. For a platform, 0 means no preference for it.
    pub to: i32,
    /// Where the process would go.
    pub kernel: KernelId,
}

impl Change {
    fn size(&self) -> u32 {
        self.from.abs_diff(self.to)
    }
}

impl Ord for Change {
    fn cmp(&self, other: &Change) -> Ordering {
        let rank = |change: &Change| (change.size(), change.from == 0);
        let rest = |change: &Change| (change.number.clone(), change.to, change.kernel);
        rank(self)
            .cmp(&rank(other))
            .then_with(|| rest(self).cmp(&rest(other)))
    }
}

impl PartialOrd for Change {
    fn partial_cmp(&self, other: &Change) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Change {
    /// The change as an argument of `--affinity`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.number, self.to)
    }
}

/// One affinity of a request.
#[derive(Clone, Debug)]
enum Number {
    Channel(usize),
    Own,
    Platform(String),
}

impl Number {
    /// Every affinity that could make a difference, those that stand at 0 too.
    fn all(world: &World, request: &Request) -> Vec<Number> {
        let platforms: BTreeSet<&String> = world
            .kernels
            .iter()
            .flat_map(|kernel| &kernel.platforms)
            .collect();
        let channels = (0..request.channels.len()).map(Number::Channel);
        let platforms = platforms.into_iter().cloned().map(Number::Platform);
        channels.chain([Number::Own]).chain(platforms).collect()
    }

    fn key(&self, request: &Request) -> String {
        let process = &request.name;
        match self {
            Number::Channel(index) => format!("{process}.{}", request.channels[*index].name),
            Number::Own => format!("{process}.self"),
            Number::Platform(name) => format!("{process}.platform:{name}"),
        }
    }

    fn get(&self, request: &Request) -> i32 {
        match self {
            Number::Channel(index) => request.channels[*index].affinity,
            Number::Own => request.self_affinity,
            Number::Platform(name) => request
                .platforms
                .get(name)
                .map_or(0, |&n| i32::try_from(n).unwrap_or(i32::MAX)),
        }
    }

    fn set(&self, request: &mut Request, value: i32) {
        match self {
            Number::Channel(index) => request.channels[*index].affinity = value,
            Number::Own => request.self_affinity = value,
            Number::Platform(name) => {
                request.platforms.insert(name.clone(), value.unsigned_abs());
            }
        }
    }

    /// Values of this affinity at which the decision is worth making again.
    fn values(&self, world: &World, request: &Request, candidates: &[Candidate]) -> BTreeSet<i32> {
        let (breakpoints, least) = match self {
            Number::Channel(index) => {
                let counts = world.services.get(&request.channels[*index].path);
                (self.crossings(request, counts, candidates), -AFFINITY_MAX)
            }
            Number::Own => (
                self.crossings(request, world.copies.get(&request.group), candidates),
                -AFFINITY_MAX,
            ),
            // A platform's number only meets the other platforms' numbers, and 0.
            Number::Platform(_) => {
                let others = request.platforms.values().map(|&n| (i64::from(n), i64::from(n)));
                (others.chain([(0, 0)]).collect(), 0)
            }
        };
        breakpoints
            .into_iter()
            .flat_map(|(floor, ceiling)| [floor, ceiling, floor + 1, ceiling - 1])
            .filter_map(|value| i32::try_from(value).ok())
            .filter(|value| (least..=AFFINITY_MAX).contains(value))
            .collect()
    }

    /// Where two candidates' sums meet as this affinity varies, rounded down and up; and 0.
    fn crossings(
        &self,
        request: &Request,
        counts: Option<&Counts>,
        candidates: &[Candidate],
    ) -> BTreeSet<(i64, i64)> {
        let now = i64::from(self.get(request));
        let lines: BTreeSet<Line> = candidates
            .iter()
            .map(|candidate| {
                let slope = counts
                    .and_then(|counts| counts.get(&candidate.kernel))
                    .copied()
                    .unwrap_or(0);
                let own = now * i64::from(slope);
                Line {
                    slope: i64::from(slope),
                    positive: candidate.positive - own.max(0),
                    negative: candidate.negative - own.min(0),
                }
            })
            .collect();
        let mut meet = BTreeSet::from([(0, 0)]);
        for a in &lines {
            for b in lines.iter().filter(|b| b.slope > a.slope) {
                let run = b.slope - a.slope;
                for rise in [a.positive - b.positive, a.negative - b.negative] {
                    let floor = rise.div_euclid(run);
                    meet.insert((floor, floor + i64::from(rise.rem_euclid(run) != 0)));
                }
            }
        }
        meet
    }
}

/// A candidate's two sums as functions of one affinity `x`: constant part, plus `slope` times `x` in the
/// positive sum where `x > 0` and in the negative sum where `x < 0`.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Line {
    slope: i64,
    positive: i64,
    negative: i64,
}

/// For each kernel that could be reached by changing one affinity, the smallest such change.
pub(crate) fn smallest(
    world: &World,
    request: &Request,
    candidates: &[Candidate],
) -> BTreeMap<KernelId, Change> {
    let mut found: BTreeMap<KernelId, Change> = BTreeMap::new();
    for number in Number::all(world, request) {
        let from = number.get(request);
        let mut trial = request.clone();
        for to in number.values(world, request, candidates) {
            number.set(&mut trial, to);
            let Ok(kernel) = choose(world, &trial) else {
                continue;
            };
            let change = Change {
                number: number.key(request),
                from,
                to,
                kernel,
            };
            let best = found.entry(kernel).or_insert_with(|| change.clone());
            if change < *best {
                *best = change;
            }
        }
    }
    found
}
