//! Loom's atomics, which try every interleaving.
//!
//! Names and signatures are those of `native.rs`, so that code above compiles against either unchanged;
//! `lib.rs` picks one by `cfg(loom)`.

pub use loom::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};

/// Loom's cell, which panics when two threads reach the value without an order between them.
#[derive(Default)]
pub struct UnsafeCell<T: ?Sized>(loom::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    pub fn new(value: T) -> Self {
        UnsafeCell(loom::cell::UnsafeCell::new(value))
    }

    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// Counts as a write at this moment, so that a holder who is not alone is seen.
    pub fn get(&self) -> *mut T {
        self.0.with_mut(|value| value)
    }
}

/// A spinning thread must let the others run, or the model never ends.
pub fn relax() {
    loom::thread::yield_now();
}
