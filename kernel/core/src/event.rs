//! Something that tasks wait for and any other makes happen. No wake-up is lost: see `satrap_sync::Waiting`.
//!
//! Waking too often is harmless, for everyone who waits looks again. One waiter is the rule; it keeps its place
//! between two waits, so that waiting costs no reference count.

use alloc::vec::Vec;
use core::task::Waker;
use satrap_sync::{SpinLock, Waiting};

/// A wait queue.
#[derive(Default)]
pub(crate) struct Event {
    waiting: Waiting,
    waiters: SpinLock<Waiters>,
}

#[derive(Default)]
struct Waiters {
    first: Option<Waker>,
    first_waits: bool,
    more: Vec<Waker>,
}

impl Event {
    /// The waiter, before it looks once more and then sleeps.
    pub(crate) fn announce(&self, waker: &Waker) {
        self.waiters.lock().add(waker);
        self.waiting.announce();
    }

    /// It has happened: wakes everyone who waits.
    #[inline]
    pub(crate) fn signal(&self) {
        if self.waiting.take() {
            self.waiters.lock().wake();
        }
    }

    /// Nobody will wait any more: the wakers, and what hangs from them, are given up.
    pub(crate) fn clear(&self) {
        let waiters = core::mem::take(&mut *self.waiters.lock());
        drop(waiters);
    }
}

impl Waiters {
    fn add(&mut self, waker: &Waker) {
        match &self.first {
            Some(first) if first.will_wake(waker) => self.first_waits = true,
            Some(_) if self.first_waits => {
                if !self.more.iter().any(|other| other.will_wake(waker)) {
                    self.more.push(waker.clone());
                }
            }
            _ => {
                self.first = Some(waker.clone());
                self.first_waits = true;
            }
        }
    }

    fn wake(&mut self) {
        if core::mem::take(&mut self.first_waits)
            && let Some(first) = &self.first
        {
            first.wake_by_ref();
        }
        self.more.drain(..).for_each(Waker::wake);
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
