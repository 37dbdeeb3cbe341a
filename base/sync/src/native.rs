//! The processor's own atomics.
//!
//! All of it compiles to nothing. `loom.rs` has the same names for the model checker; `lib.rs` picks one.

use core::cell::UnsafeCell as StdUnsafeCell;
pub use core::hint::spin_loop as relax;
pub use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};

/// `core::cell::UnsafeCell` with loom's access methods.
#[derive(Default)]
pub struct UnsafeCell<T: ?Sized>(StdUnsafeCell<T>);

impl<T> UnsafeCell<T> {
    pub const fn new(value: T) -> Self {
        UnsafeCell(StdUnsafeCell::new(value))
    }

    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    #[inline(always)]
    pub fn get(&self) -> *mut T {
        self.0.get()
    }
}
