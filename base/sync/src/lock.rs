//! A spin lock. Kernel code is never preempted (DESIGN §3), so a holder always runs and critical sections
//! are a few dozen instructions: spinning beats sleeping.

use crate::backend::{AtomicBool, Ordering, UnsafeCell, relax};
use core::ops::{Deref, DerefMut};

/// Mutual exclusion by spinning.
#[derive(Default)]
pub struct SpinLock<T: ?Sized> {
    locked: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: the flag admits one holder at a time, so the value is reached by one thread at a time.
unsafe impl<T: ?Sized + Send> Send for SpinLock<T> {}
// SAFETY: as above; sharing the lock hands the value from thread to thread, hence `T: Send`.
unsafe impl<T: ?Sized + Send> Sync for SpinLock<T> {}

impl<T> SpinLock<T> {
    /// An unlocked lock.
    #[cfg(not(loom))]
    pub const fn new(value: T) -> Self {
        SpinLock {
            locked: AtomicBool::new(false),
            value: UnsafeCell::new(value),
        }
    }

    /// An unlocked lock.
    #[cfg(loom)]
    pub fn new(value: T) -> Self {
        SpinLock {
            locked: AtomicBool::new(false),
            value: UnsafeCell::new(value),
        }
    }

    /// The value, when nobody can hold the lock any more.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> SpinLock<T> {
    /// Waits until the lock is free and takes it.
    #[inline]
    pub fn lock(&self) -> SpinGuard<'_, T> {
        loop {
            if self.take() {
                return SpinGuard { lock: self };
            }
            while self.locked.load(Ordering::Relaxed) {
                relax();
            }
        }
    }

    /// Takes the lock if it is free.
    #[inline]
    pub fn try_lock(&self) -> Option<SpinGuard<'_, T>> {
        // The plain load spares the line when somebody holds the lock.
        let taken = !self.locked.load(Ordering::Relaxed) && self.take();
        taken.then_some(SpinGuard { lock: self })
    }

    #[inline(always)]
    fn take(&self) -> bool {
        // SYNC POINT lock-acquire: pairs with lock-release; what the last holder wrote is visible here.
        self.locked
            .compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
    }
}

/// Holds a [`SpinLock`]; dropping it frees the lock.
pub struct SpinGuard<'a, T: ?Sized> {
    lock: &'a SpinLock<T>,
}

impl<T: ?Sized> Deref for SpinGuard<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: a guard exists only while the lock is held, and only one guard at a time.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T: ?Sized> DerefMut for SpinGuard<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: a guard exists only while the lock is held, and only one guard at a time.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T: ?Sized> Drop for SpinGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        // SYNC POINT lock-release: pairs with lock-acquire.
        self.lock.locked.store(false, Ordering::Release);
    }
}
