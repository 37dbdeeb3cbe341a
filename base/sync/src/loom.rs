//! Loom's atomics, which try every interleaving.

pub use loom::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};

pub use std::cell::UnsafeCell;

/// A spinning thread must let the others run, or the model never ends.
pub fn relax() {
    loom::thread::yield_now();
}
