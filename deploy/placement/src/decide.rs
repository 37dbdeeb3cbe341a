//! The decision for one process: Helios §3.7.3 and figure 3.
//!
//! Each pass keeps the kernels with the best number and drops the rest; the first pass that leaves one
//! kernel decides. The numbers of every candidate are computed once, before the passes, so that the
//! explanation shows exactly what the decision saw.

use std::fmt;

use satrap_abi::KernelId;
use serde::Serialize;

use crate::change::{self, Change};
use crate::world::{Kernel, Request, World};

/// A pass of figure 3, in order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pass {
    /// There was only one kernel to begin with.
    OnlyKernel,
    /// Kernels of the most preferred platform that has any.
    Platform,
    /// Largest sum of positive affinities.
    Positive,
    /// Sum of negative affinities nearest to zero.
    Negative,
    /// Lowest CPU load.
    Load,
    /// Not in the figure: kernels alike in everything go by the lowest number.
    Number,
}

impl fmt::Display for Pass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Pass::OnlyKernel => "being the only kernel",
            Pass::Platform => "platform affinity",
            Pass::Positive => "positive affinity",
            Pass::Negative => "negative affinity",
            Pass::Load => "CPU load",
            Pass::Number => "kernel number",
        })
    }
}

/// One contribution to a sum: an affinity times the copies of the service on that kernel.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Term {
    /// The channel's name, or `self`.
    pub number: String,
    /// The service's path; for `self`, the group of copies.
    pub target: String,
    /// The affinity, not 0.
    pub affinity: i32,
    /// Copies of the target on this kernel, at least 1.
    pub copies: u32,
}

impl Term {
    /// What it adds to the sum.
    pub fn value(&self) -> i64 {
        i64::from(self.affinity) * i64::from(self.copies)
    }
}

/// What became of a candidate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The process goes here.
    Chosen,
    /// Dropped in this pass, for its number there was worse than another's.
    Out(Pass),
}

/// A kernel and the numbers that it was judged by.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Candidate {
    /// The kernel.
    pub kernel: KernelId,
    /// Platforms that it advertises.
    pub platforms: Vec<String>,
    /// Largest affinity that the request has to one of them, 0 if to none.
    pub platform: u32,
    /// Sum of positive affinities to what runs here.
    pub positive: i64,
    /// Sum of negative affinities to what runs here, at most 0.
    pub negative: i64,
    /// Expected CPU load, 0 and up ([`Kernel::expected_load`]).
    pub load: f64,
    /// What the two sums are made of.
    pub terms: Vec<Term>,
    /// Chosen, or where it fell out.
    pub verdict: Verdict,
    /// Smallest change to one affinity that would bring the process here, found by deciding again with it
    /// while everything else stays where it is. `None` for the chosen kernel, and where no single number
    /// does it.
    pub wins_if: Option<Change>,
}

/// Where a process goes, and why.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Decision {
    /// The process.
    pub process: String,
    /// The kernel that it goes to.
    pub kernel: KernelId,
    /// The pass that left this kernel alone.
    pub decided_by: Pass,
    /// Every kernel, in order of number.
    pub candidates: Vec<Candidate>,
}

impl Decision {
    /// The smallest change to one affinity that would move the process anywhere else.
    pub fn smallest_change(&self) -> Option<&Change> {
        self.candidates
            .iter()
            .filter_map(|candidate| candidate.wins_if.as_ref())
            .min()
    }
}

/// Why a process can go nowhere.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case", tag = "refusal")]
pub enum Refusal {
    /// There is no satellite kernel at all.
    NoKernel {
        /// The process.
        process: String,
    },
    /// Platforms are preferred, and no kernel is of any of them (Helios §3.7.3: an error).
    NoPlatform {
        /// The process.
        process: String,
        /// What it prefers, most preferred first.
        preferred: Vec<String>,
        /// What there is.
        available: Vec<String>,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::NoKernel { process } => {
                write!(f, "cannot place `{process}`: there is no satellite kernel")
            }
            Refusal::NoPlatform {
                process,
                preferred,
                available,
            } => write!(
                f,
                "cannot place `{process}`: it prefers {}, and the kernels here are {}",
                preferred.join(", "),
                available.join(", ")
            ),
        }
    }
}

impl std::error::Error for Refusal {}

/// Decides where `request` goes, and explains it.
///
/// # Errors
/// [`Refusal`] when there is no kernel, or none of a preferred platform.
pub fn place(world: &World, request: &Request) -> Result<Decision, Refusal> {
    let (kernel, decided_by, mut candidates) = decide(world, request)?;
    let mut wins_if = change::smallest(world, request, &candidates);
    for candidate in candidates
        .iter_mut()
        .filter(|candidate| candidate.kernel != kernel)
    {
        candidate.wins_if = wins_if.remove(&candidate.kernel);
    }
    Ok(Decision {
        process: request.process.clone(),
        kernel,
        decided_by,
        candidates,
    })
}

/// Decides as [`place`] does and explains nothing: for callers that only want the answer.
///
/// # Errors
/// As [`place`].
pub fn choose(world: &World, request: &Request) -> Result<KernelId, Refusal> {
    decide(world, request).map(|(kernel, ..)| kernel)
}

/// Figure 3: `SelectSatelliteKernel()`.
fn decide(world: &World, request: &Request) -> Result<(KernelId, Pass, Vec<Candidate>), Refusal> {
    let mut candidates: Vec<Candidate> = world
        .kernels
        .iter()
        .map(|each| judge(each, world, request))
        .collect();
    candidates.sort_by_key(|candidate| candidate.kernel);
    let mut kept: Vec<usize> = (0..candidates.len()).collect();
    if kept.is_empty() {
        return Err(Refusal::NoKernel {
            process: request.process.clone(),
        });
    }
    let wants_platform = request.platforms.values().any(|&affinity| affinity > 0);
    if wants_platform && candidates.iter().all(|candidate| candidate.platform == 0) {
        return Err(no_platform(world, request));
    }
    let mut decided_by = Pass::OnlyKernel;
    for pass in [
        Pass::Platform,
        Pass::Positive,
        Pass::Negative,
        Pass::Load,
        Pass::Number,
    ] {
        if kept.len() == 1 {
            break;
        }
        decided_by = pass;
        keep_best(pass, &mut kept, &mut candidates);
    }
    let winner = &mut candidates[kept[0]];
    winner.verdict = Verdict::Chosen;
    Ok((winner.kernel, decided_by, candidates))
}

/// Drops every kept candidate that another one beats in `pass`.
fn keep_best(pass: Pass, kept: &mut Vec<usize>, candidates: &mut [Candidate]) {
    let Some(best) = kept
        .iter()
        .copied()
        .min_by(|&a, &b| compare(pass, &candidates[a], &candidates[b]))
    else {
        return;
    };
    kept.retain(|&index| {
        let stays = compare(pass, &candidates[index], &candidates[best]).is_eq();
        if !stays {
            candidates[index].verdict = Verdict::Out(pass);
        }
        stays
    });
}

/// `Less` if `a` is better than `b` in `pass`.
fn compare(pass: Pass, a: &Candidate, b: &Candidate) -> std::cmp::Ordering {
    match pass {
        Pass::OnlyKernel => std::cmp::Ordering::Equal,
        // Without a platform affinity every candidate has 0 here, and all are kept.
        Pass::Platform => b.platform.cmp(&a.platform),
        Pass::Positive => b.positive.cmp(&a.positive),
        Pass::Negative => b.negative.cmp(&a.negative),
        Pass::Load => a.load.total_cmp(&b.load),
        Pass::Number => a.kernel.cmp(&b.kernel),
    }
}

/// The numbers of one kernel.
fn judge(kernel: &Kernel, world: &World, request: &Request) -> Candidate {
    let terms = terms(kernel.id, world, request);
    let sum = |sign: fn(&i64) -> bool| terms.iter().map(Term::value).filter(sign).sum();
    Candidate {
        kernel: kernel.id,
        platforms: kernel.platforms.clone(),
        platform: platform_affinity(kernel, request),
        positive: sum(|value| *value > 0),
        negative: sum(|value| *value < 0),
        load: kernel.expected_load(),
        terms,
        verdict: Verdict::Out(Pass::Number),
        wins_if: None,
    }
}

fn platform_affinity(kernel: &Kernel, request: &Request) -> u32 {
    let affinities = kernel
        .platforms
        .iter()
        .filter_map(|platform| request.platforms.get(platform));
    affinities.copied().max().unwrap_or(0)
}

/// Every affinity that counts on `kernel`: to services that run there, and to copies of itself.
fn terms(kernel: KernelId, world: &World, request: &Request) -> Vec<Term> {
    let channels = request.channels.iter().map(|channel| {
        (
            channel.name.as_str(),
            channel.path.as_str(),
            channel.affinity,
            world.services.get(&channel.path),
        )
    });
    // Helios §3.7.2, self-reference affinity: copies of the process that already run.
    let own = world.copies.get(&request.group);
    let own = std::iter::once(("self", request.group.as_str(), request.self_affinity, own));
    channels
        .chain(own)
        .map(|(number, target, affinity, counts)| Term {
            number: number.to_string(),
            target: target.to_string(),
            affinity,
            copies: counts
                .and_then(|counts| counts.get(&kernel))
                .copied()
                .unwrap_or(0),
        })
        .filter(|term| term.value() != 0)
        .collect()
}

fn no_platform(world: &World, request: &Request) -> Refusal {
    let mut preferred: Vec<_> = request
        .platforms
        .iter()
        .filter(|(_, affinity)| **affinity > 0)
        .collect();
    preferred.sort_by_key(|(_, affinity)| std::cmp::Reverse(**affinity));
    let mut available: Vec<String> = world
        .kernels
        .iter()
        .flat_map(|kernel| kernel.platforms.iter().cloned())
        .collect();
    available.sort();
    available.dedup();
    Refusal::NoPlatform {
        process: request.process.clone(),
        preferred: preferred.into_iter().map(|(name, _)| name.clone()).collect(),
        available,
    }
}
