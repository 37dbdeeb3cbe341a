//! Something that tasks wait for and any other makes happen. No wake-up is lost: see `satrap_sync::Waiting`.
//!
//! Waking too often is harmless, for everyone who waits looks again. One waiter is the rule; it keeps its place
//! between two waits, so that waiting again costs neither a reference count nor a lock.

use alloc::vec::Vec;
use core::task::Waker;
use satrap_sync::{AtomicUsize, Ordering, SpinLock, Waiting};

/// A wait queue.
#[derive(Default)]
pub(crate) struct Event {
    waiting: Waiting,
    /// Whose place the first is: the address of its waker's data; 0 while it is nobody's.
    first: AtomicUsize,
    waiters: SpinLock<Waiters>,
}

#[derive(Default)]
struct Waiters {
    first: Option<Waker>,
    more: Vec<Waker>,
}

impl Event {
    /// The waiter, before it looks once more and then sleeps.
    #[inline]
    pub(crate) fn announce(&self, waker: &Waker) {
        self.waiting.announce();
        if self.first.load(Ordering::Relaxed) != waker.data().addr() {
            self.add(waker);
            // A signal may have come before the waiter had its place: it found nobody.
            self.waiting.announce();
        }
    }

    #[inline(never)]
    fn add(&self, waker: &Waker) {
        let mut waiters = self.waiters.lock();
        if waiters.first.is_none() {
            waiters.first = Some(waker.clone());
            self.first.store(waker.data().addr(), Ordering::Relaxed);
        } else if !waiters.more.iter().any(|other| other.will_wake(waker)) {
            waiters.more.push(waker.clone());
        }
    }

    /// It has happened: wakes everyone who waits.
    #[inline]
    pub(crate) fn signal(&self) {
        if self.waiting.is_announced() {
            self.wake();
        }
    }

    fn wake(&self) {
        let mut waiters = self.waiters.lock();
        // Whoever announces itself again from here on is woken below, or comes after.
        self.waiting.withdraw();
        if let Some(first) = &waiters.first {
            first.wake_by_ref();
        }
        waiters.more.drain(..).for_each(Waker::wake);
    }

    /// What is waited for goes to other hands: wakes everyone, so that they see it, and forgets them.
    pub(crate) fn hand_over(&self) {
        self.wake();
        self.clear();
    }

    /// Nobody will wait any more: the wakers, and what hangs from them, are given up.
    pub(crate) fn clear(&self) {
        let mut waiters = self.waiters.lock();
        self.first.store(0, Ordering::Relaxed);
        let left = core::mem::take(&mut *waiters);
        drop(waiters);
        drop(left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{sync::Arc, task::Wake};
    use core::sync::atomic::{AtomicUsize, Ordering};

    struct Counter(AtomicUsize);

    impl Wake for Counter {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn counter() -> (Arc<Counter>, Waker) {
        let counter = Arc::new(Counter(AtomicUsize::new(0)));
        (counter.clone(), Waker::from(counter))
    }

    #[test]
    fn every_waiter_is_woken_once() {
        let event = Event::default();
        let waiters = [counter(), counter(), counter()];
        waiters.iter().for_each(|(_, waker)| event.announce(waker));
        event.signal();
        event.signal();
        assert!(
            waiters
                .iter()
                .all(|(count, _)| count.0.load(Ordering::Relaxed) == 1)
        );
    }

    #[test]
    fn a_cleared_event_holds_nobody() {
        let event = Event::default();
        let (count, waker) = counter();
        event.announce(&waker);
        drop(waker);
        event.clear();
        assert_eq!(Arc::strong_count(&count), 1);
        event.signal();
        assert_eq!(count.0.load(Ordering::Relaxed), 0);
    }
}
