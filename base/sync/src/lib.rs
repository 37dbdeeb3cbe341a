//! The only atomics: everything above takes its atomics and locks from here, so that the same code runs
//! under loom (`RUSTFLAGS="--cfg loom"`), which then tries every interleaving.
//!
//! Neighbours: `interconnect/link` builds rings on it, `kernel/core` its run queues and inboxes.

#![cfg_attr(not(loom), no_std)]
#![deny(unsafe_code)]

#[cfg_attr(loom, path = "loom.rs")]
#[cfg_attr(not(loom), path = "native.rs")]
mod backend;
#[allow(unsafe_code, reason = "a lock hands out the value that it guards")]
mod lock;
#[allow(unsafe_code, reason = "a run reaches the value that it runs")]
mod run;
mod waiting;

pub use backend::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence, relax};
pub use lock::{SpinGuard, SpinLock};
pub use run::{Run, RunCell};
pub use waiting::Waiting;
