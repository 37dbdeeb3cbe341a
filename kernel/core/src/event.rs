//! Something that one task waits for and any other makes happen. No wake-up is lost: see `satrap_sync::Waiting`.

use core::task::Waker;
use satrap_sync::{SpinLock, Waiting};

/// A wait queue of one.
#[derive(Default)]
pub(crate) struct Event {
    waiting: Waiting,
    waker: SpinLock<Option<Waker>>,
}

impl Event {
    /// The waiter, before it looks once more and then sleeps. A second waiter takes the place of the first,
    /// which is woken so that it can see for itself.
    pub(crate) fn announce(&self, waker: &Waker) {
        let mut slot = self.waker.lock();
        let displaced = match slot.as_ref() {
            Some(old) if old.will_wake(waker) => None,
            _ => slot.replace(waker.clone()),
        };
        drop(slot);
        if let Some(other) = displaced
            && self.waiting.take()
        {
            other.wake();
        }
        self.waiting.announce();
    }

    /// The waiter does not sleep after all.
    #[inline]
    pub(crate) fn withdraw(&self) {
        self.waiting.withdraw();
    }

    /// It has happened: wakes the waiter, if there is one.
    #[inline]
    pub(crate) fn signal(&self) {
        if self.waiting.take() {
            self.wake();
        }
    }

    fn wake(&self) {
        if let Some(waker) = self.waker.lock().as_ref() {
            waker.wake_by_ref();
        }
    }
}
