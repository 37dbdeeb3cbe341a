//! Where a process runs: Helios figure 3 to the letter, and its explanation.
//!
//! Principles: a pure function of what it is given (no I/O, no clock, no randomness), so that a decision can
//! be repeated, tested, and explained by asking again with another number. [`place`] decides for one process;
//! [`plan()`] decides for an application, services before their clients. Neighbours: `deploy/manifest` turns a
//! manifest into [`Request`]s; the coordinator keeps the [`World`] and starts what is decided.

#![forbid(unsafe_code)]

mod change;
mod decide;
mod explain;
mod order;
mod plan;
mod world;

pub use change::Change;
pub use decide::{Candidate, Decision, Pass, Refusal, Term, Verdict, choose, place};
pub use explain::table;
pub use order::order;
pub use plan::{Plan, plan};
pub use world::{Channel, Counts, Kernel, Request, World};

/// Largest affinity, either way. Small enough that no sum of affinities overflows 64 bits.
pub const AFFINITY_MAX: i32 = 1_000_000;
