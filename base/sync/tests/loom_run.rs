//! Every interleaving of waking something and of running it.
//!
//! `RUSTFLAGS="--cfg loom" cargo test --release -p satrap-sync --test loom_run`

#![cfg(loom)]

use loom::{
    model::Builder,
    sync::{Condvar, Mutex},
    thread,
};
use satrap_sync::{AtomicU32, Ordering, RunCell};
use std::sync::Arc;

fn explore(test: impl Fn() + Sync + Send + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(test);
}

/// A queue of one task, which the model sees to be stuck when nobody fills it any more.
#[derive(Default)]
struct Queue(Mutex<u32>, Condvar);

impl Queue {
    fn push(&self) {
        *self.0.lock().unwrap() += 1;
        self.1.notify_one();
    }

    fn pop(&self) {
        let mut queued = self.0.lock().unwrap();
        while *queued == 0 {
            queued = self.1.wait(queued).unwrap();
        }
        *queued -= 1;
        assert_eq!(*queued, 0, "queued twice");
    }
}

/// Two wakers, each with something to say, and an executor that runs until it has heard both.
fn both_are_heard<C: Send + Sync + 'static>(
    cell: fn() -> C,
    wake: fn(&C) -> bool,
    run: fn(&C, &mut dyn FnMut()) -> bool,
) {
    explore(move || {
        let shared = Arc::new((cell(), Queue::default(), [AtomicU32::new(0), AtomicU32::new(0)]));
        let wakers = [0, 1].map(|waker| {
            let shared = shared.clone();
            thread::spawn(move || {
                let (cell, queue, said) = &*shared;
                said[waker].store(1, Ordering::Relaxed);
                if wake(cell) {
                    queue.push();
                }
            })
        });
        let (cell, queue, said) = &*shared;
        let mut heard = 0;
        while heard != 2 {
            queue.pop();
            let mut listen = || heard = said.iter().map(|said| said.load(Ordering::Relaxed)).sum();
            if !run(cell, &mut listen) {
                queue.push();
            }
        }
        wakers.into_iter().for_each(|waker| waker.join().unwrap());
    });
}

#[test]
fn every_wake_up_is_followed_by_a_run_that_sees_what_the_waker_wrote() {
    both_are_heard(
        || RunCell::new(()),
        |cell| cell.wake(),
        |cell, listen| {
            let run = cell.begin().expect("it was queued");
            listen();
            run.block()
        },
    );
}

#[test]
fn a_run_that_is_interrupted_forgets_no_wake_up() {
    both_are_heard(
        || RunCell::new(()),
        |cell| cell.wake(),
        |cell, listen| {
            cell.begin().expect("it was queued").requeue();
            let run = cell.begin().expect("it is queued again");
            listen();
            run.block()
        },
    );
}

/// A waker that is content to see that a run is owed already: the run may have looked before.
#[test]
#[should_panic(expected = "deadlock")]
fn a_waker_that_only_looks_is_seen_to_fail() {
    const OWED: u32 = 1;
    const RUNS: u32 = 2;
    both_are_heard(
        || AtomicU32::new(0),
        |state| state.load(Ordering::Relaxed) & OWED == 0 && state.fetch_or(OWED, Ordering::AcqRel) == 0,
        |state, listen| {
            state.store(RUNS, Ordering::Relaxed);
            listen();
            state.fetch_sub(RUNS, Ordering::AcqRel) == RUNS
        },
    );
}

/// An executor that says with a mere store that it runs: wake-ups that come just before are overwritten.
#[test]
#[should_panic(expected = "deadlock")]
fn a_run_that_begins_with_a_store_is_seen_to_fail() {
    const OWED: u32 = 1;
    const RUNS: u32 = 2;
    both_are_heard(
        || AtomicU32::new(0),
        |state| state.fetch_or(OWED, Ordering::AcqRel) == 0,
        |state, listen| {
            state.store(RUNS, Ordering::Relaxed);
            listen();
            state.fetch_sub(RUNS, Ordering::AcqRel) == RUNS
        },
    );
}

#[test]
fn two_executors_never_run_it_at_once() {
    explore(|| {
        let cell = Arc::new(RunCell::new(0));
        assert!(cell.wake());
        let run = |cell: &RunCell<u32>| {
            let mut runs = 0;
            while let Some(mut run) = cell.begin() {
                *run += 1;
                runs += 1;
                run.block();
            }
            runs
        };
        let others = [0, 1].map(|_| {
            let cell = cell.clone();
            thread::spawn(move || {
                let queued = cell.wake();
                (queued, run(&cell))
            })
        });
        let mut runs = run(&cell);
        runs += others.map(|other| other.join().unwrap().1).iter().sum::<u32>();
        runs += run(&cell);
        assert_eq!(*cell.hold().expect("nobody runs it any more"), runs);
    });
}

#[test]
fn a_run_finds_what_the_last_one_left_on_another_cpu() {
    explore(|| {
        let cell = Arc::new(RunCell::new(0));
        assert!(cell.wake());
        let mut first = cell.begin().expect("it was queued");
        let thief = {
            let cell = cell.clone();
            thread::spawn(move || {
                let again = |mut run: satrap_sync::Run<'_, u32>| *run += 1;
                cell.wake()
                    .then(|| again(cell.begin().expect("it is queued")))
                    .is_some()
            })
        };
        *first += 1;
        let stays = first.block();
        if !stays {
            *cell.begin().expect("it is queued") += 1;
        }
        assert_eq!(thief.join().unwrap(), stays, "one of the two runs it again");
    });
}

#[test]
fn a_run_that_was_interrupted_goes_on_elsewhere_where_it_stopped() {
    explore(|| {
        let cell = Arc::new(RunCell::new(0));
        assert!(cell.wake());
        let mut first = cell.begin().expect("it was queued");
        let thief = {
            let cell = cell.clone();
            thread::spawn(move || cell.begin().is_none_or(|run| *run == 1))
        };
        *first = 1;
        first.requeue();
        assert!(thief.join().unwrap());
    });
}

#[test]
fn what_has_ended_is_never_queued() {
    explore(|| {
        let cell = Arc::new(RunCell::new(()));
        assert!(cell.wake());
        let run = cell.begin().expect("it was queued");
        let waker = {
            let cell = cell.clone();
            thread::spawn(move || cell.wake())
        };
        run.finish();
        assert!(!waker.join().unwrap() && cell.begin().is_none() && cell.hold().is_none());
    });
}
