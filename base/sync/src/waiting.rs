//! The flag between one that waits and those that wake it, in the order that loses no wake-up.
//!
//! The waiter says that it waits and then looks once more; the waker makes its change visible and then looks
//! whether somebody waits. The two full fences make it impossible that both look before the other spoke.

use crate::backend::{AtomicBool, Ordering, fence};

/// Whether somebody waits.
#[derive(Default)]
pub struct Waiting(AtomicBool);

impl Waiting {
    /// Nobody waits yet.
    pub fn new() -> Waiting {
        Waiting(AtomicBool::new(false))
    }

    /// The waiter: say that you wait. Look once more afterwards, before sleeping.
    #[inline]
    pub fn announce(&self) {
        self.0.store(true, Ordering::Relaxed);
        // SYNC POINT wait-announce: pairs with wait-wake.
        fence(Ordering::SeqCst);
    }

    /// The waiter: you do not sleep after all.
    #[inline]
    pub fn withdraw(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// The waker, after its change: whether somebody waits. The waker withdraws it for those that it wakes.
    #[inline]
    pub fn is_announced(&self) -> bool {
        // SYNC POINT wait-look: pairs with wait-announce.
        fence(Ordering::SeqCst);
        self.0.load(Ordering::Relaxed)
    }

    /// The waker, after its change: whether the waiter must be woken. True for one waker only.
    #[inline]
    pub fn take(&self) -> bool {
        // SYNC POINT wait-wake: pairs with wait-announce.
        fence(Ordering::SeqCst);
        self.0.load(Ordering::Relaxed) && self.0.swap(false, Ordering::AcqRel)
    }
}
