//! Deadlines of one CPU, soonest first. Cancelled exactly, so that a call which often waits with a deadline
//! leaves nothing behind.

use alloc::{collections::BTreeMap, vec::Vec};
use core::task::Waker;
use satrap_sync::{AtomicU64, Ordering, SpinLock};

/// Names an armed deadline.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct TimerKey {
    deadline: u64,
    serial: u64,
}

/// The deadlines of one CPU.
pub(crate) struct Timers {
    armed: SpinLock<Armed>,
    /// The soonest deadline, readable without the lock; `u64::MAX` when there is none.
    next: AtomicU64,
}

#[derive(Default)]
struct Armed {
    wakers: BTreeMap<TimerKey, Waker>,
    serial: u64,
}

impl Timers {
    pub(crate) fn new() -> Timers {
        Timers {
            armed: SpinLock::new(Armed::default()),
            next: AtomicU64::new(u64::MAX),
        }
    }

    /// The soonest deadline, if any.
    #[inline]
    pub(crate) fn next(&self) -> Option<u64> {
        let next = self.next.load(Ordering::Acquire);
        (next != u64::MAX).then_some(next)
    }

    /// Wakes `waker` at `deadline`.
    pub(crate) fn arm(&self, deadline: u64, waker: &Waker) -> TimerKey {
        let mut armed = self.armed.lock();
        armed.serial += 1;
        let key = TimerKey {
            deadline,
            serial: armed.serial,
        };
        armed.wakers.insert(key, waker.clone());
        self.publish(&armed);
        key
    }

    /// Forgets a deadline; harmless when it has passed.
    pub(crate) fn cancel(&self, key: TimerKey) {
        let mut armed = self.armed.lock();
        let waker = armed.wakers.remove(&key);
        self.publish(&armed);
        drop(armed);
        drop(waker);
    }

    /// Wakes everyone whose deadline has come.
    pub(crate) fn fire(&self, now: u64) {
        if self.next.load(Ordering::Acquire) > now {
            return;
        }
        let mut armed = self.armed.lock();
        let later = armed.wakers.split_off(&TimerKey {
            deadline: now + 1,
            serial: 0,
        });
        let due: Vec<Waker> = core::mem::replace(&mut armed.wakers, later)
            .into_values()
            .collect();
        self.publish(&armed);
        drop(armed);
        due.into_iter().for_each(Waker::wake);
    }

    fn publish(&self, armed: &Armed) {
        let next = armed
            .wakers
            .first_key_value()
            .map_or(u64::MAX, |(key, _)| key.deadline);
        self.next.store(next, Ordering::Release);
    }
}
