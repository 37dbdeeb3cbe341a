//! Something that runs whenever it has been woken, on one executor at a time: the state word of a task and,
//! behind it, what the task consists of.
//!
//! The promise: every [`RunCell::wake`] is followed by a run that begins after it and sees what the waker wrote
//! before it, whichever of the cell's states the waker met. So each step is a read-modify-write of one word,
//! even where it changes nothing: that is what orders the waker's writes before the run.

use crate::backend::{AtomicU32, Ordering, UnsafeCell};
use core::ops::{Deref, DerefMut};

/// Bit: a run is owed.
const OWED: u32 = 1;
/// Bit: it runs.
const RUNS: u32 = 2;

/// Waits to be woken. Whoever wakes it queues it.
const BLOCKED: u32 = 0;
/// In a queue. Whoever takes it out begins it.
const QUEUED: u32 = OWED;
/// Runs.
const RUNNING: u32 = RUNS;
/// Has ended; a wake-up of it is in vain.
const DONE: u32 = 4;

/// A value that runs when woken.
pub struct RunCell<T> {
    state: AtomicU32,
    value: UnsafeCell<T>,
}

// SAFETY: a `Run` alone reaches the value, and there is one at a time, so the value passes from thread to
// thread: hence `T: Send`.
unsafe impl<T: Send> Sync for RunCell<T> {}

impl<T> RunCell<T> {
    /// One that waits for its first wake-up.
    pub fn new(value: T) -> RunCell<T> {
        RunCell {
            state: AtomicU32::new(BLOCKED),
            value: UnsafeCell::new(value),
        }
    }

    /// Wakes it. True for the one caller who must queue it.
    #[inline]
    pub fn wake(&self) -> bool {
        // SYNC POINT run-wake: pairs with run-begin.
        self.state.fetch_or(OWED, Ordering::Release) == BLOCKED
    }

    /// Whoever took it out of the queue: it runs now. `None` if it was not queued.
    #[inline]
    pub fn begin(&self) -> Option<Run<'_, T>> {
        self.enter(QUEUED)
    }

    /// Before anybody can wake it: holds it, to change its value. `None` if it has been woken.
    pub fn hold(&self) -> Option<Run<'_, T>> {
        self.enter(BLOCKED)
    }

    #[inline(always)]
    fn enter(&self, from: u32) -> Option<Run<'_, T>> {
        // SYNC POINT run-begin: pairs with run-wake, and with run-block or run-requeue of the last run.
        self.state
            .compare_exchange(from, RUNNING, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
            .then_some(Run { cell: self })
    }
}

/// The one run of a [`RunCell`] that is in progress; it ends by one of three calls. One that is dropped instead
/// never ends, and the cell runs no more.
#[must_use = "a run must be ended"]
pub struct Run<'a, T> {
    cell: &'a RunCell<T>,
}

impl<T> Run<'_, T> {
    /// It stopped to wait. False if it was woken meanwhile: the caller must queue it again.
    #[inline]
    pub fn block(self) -> bool {
        // SYNC POINT run-block: pairs with run-begin.
        self.cell.state.fetch_sub(RUNS, Ordering::Release) == RUNNING
    }

    /// It stopped although it could go on: the caller must queue it again.
    #[inline]
    pub fn requeue(self) {
        // SYNC POINT run-requeue: pairs with run-begin. A mere store would overwrite a wake-up's order.
        self.cell.state.swap(QUEUED, Ordering::Release);
    }

    /// It has ended for good.
    pub fn finish(self) {
        self.cell.state.store(DONE, Ordering::Relaxed);
    }
}

impl<T> Deref for Run<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: only the step from blocked or queued to running makes a `Run`, only ending it leaves that
        // state again, and a wake-up alters the other bit: no two exist at a time.
        unsafe { &*self.cell.value.get() }
    }
}

impl<T> DerefMut for Run<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above.
        unsafe { &mut *self.cell.value.get() }
    }
}
