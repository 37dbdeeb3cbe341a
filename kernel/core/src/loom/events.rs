//! Every interleaving of waiting, waiting again, and what makes it happen.
//!
//! The event alone, with threads in the place of tasks; `mod.rs` has it in whole kernels.

use super::{explore, machine::Signal};
use crate::event::Event;
use alloc::{sync::Arc, task::Wake};
use core::task::Waker;
use loom::thread;
use satrap_sync::{AtomicU32, Ordering};

/// Something that happens again and again.
#[derive(Default)]
struct Count {
    event: Event,
    count: AtomicU32,
}

impl Count {
    fn happen(&self) {
        self.count
            .store(self.count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        self.event.signal();
    }

    /// Waits until it has happened so often. A wake-up that is lost is a deadlock, which loom reports.
    fn wait(&self, often: u32, task: &Arc<Task>, waker: &Waker) {
        while self.count.load(Ordering::Relaxed) < often {
            self.event.announce(waker);
            if self.count.load(Ordering::Relaxed) >= often {
                return;
            }
            task.0.take();
        }
    }
}

/// A thread in the place of a task.
#[derive(Default)]
struct Task(Signal);

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        self.0.raise();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.raise();
    }
}

fn task() -> (Arc<Task>, Waker) {
    let task = Arc::new(Task::default());
    (task.clone(), Waker::from(task))
}

#[test]
fn whoever_waits_again_is_woken_again() {
    explore(3, || {
        let count = Arc::new(Count::default());
        let waited = count.clone();
        let waiter = thread::spawn(move || {
            let (task, waker) = task();
            (1..=2).for_each(|often| waited.wait(often, &task, &waker));
            waited.event.clear();
        });
        (1..=2).for_each(|_| count.happen());
        waiter.join().unwrap();
    });
}

#[test]
fn two_that_wait_are_both_woken() {
    explore(2, || {
        let count = Arc::new(Count::default());
        let waiters = [(); 2].map(|()| {
            let waited = count.clone();
            thread::spawn(move || {
                let (task, waker) = task();
                waited.wait(1, &task, &waker);
            })
        });
        count.happen();
        waiters.into_iter().for_each(|waiter| waiter.join().unwrap());
        count.event.clear();
    });
}

#[test]
fn what_goes_to_other_hands_wakes_whoever_waits_on_it() {
    explore(3, || {
        let count = Arc::new(Count::default());
        let waited = count.clone();
        let waiter = thread::spawn(move || {
            let (task, waker) = task();
            waited.wait(1, &task, &waker);
        });
        count.count.store(1, Ordering::Relaxed);
        count.event.hand_over();
        waiter.join().unwrap();
        count.event.clear();
    });
}
