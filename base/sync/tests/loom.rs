//! Every interleaving of the lock and of the wake-up flag.
//!
//! `RUSTFLAGS="--cfg loom" cargo test --release -p satrap-sync --test loom`

#![cfg(loom)]

use loom::{model::Builder, thread};
use satrap_sync::{AtomicBool, AtomicU32, Ordering, SpinLock, Waiting};
use std::sync::Arc;

fn explore(test: impl Fn() + Sync + Send + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(test);
}

#[test]
fn a_spin_lock_admits_one_holder_at_a_time() {
    explore(|| {
        let lock = Arc::new(SpinLock::new(0));
        let other = lock.clone();
        let adder = thread::spawn(move || {
            for _ in 0..2 {
                *other.lock() += 1;
            }
        });
        *lock.lock() += 1;
        adder.join().unwrap();
        assert_eq!(*lock.lock(), 3);
    });
}

#[test]
fn a_try_lock_admits_one_holder_at_a_time() {
    explore(|| {
        let lock = Arc::new(SpinLock::new(0));
        let other = lock.clone();
        let adder = thread::spawn(move || other.try_lock().map(|mut value| *value += 1).is_some());
        let taken = lock.try_lock().map(|mut value| *value += 1).is_some();
        let taken_there = adder.join().unwrap();
        assert!(taken || taken_there);
        assert_eq!(*lock.lock(), i32::from(taken) + i32::from(taken_there));
    });
}

/// A lock whose flag orders nothing: what `SpinLock` would be with relaxed operations.
#[test]
#[should_panic(expected = "Causality violation")]
fn a_lock_without_acquire_and_release_is_seen_to_fail() {
    explore(|| {
        let shared = Arc::new((AtomicBool::new(false), loom::cell::UnsafeCell::new(0)));
        let other = shared.clone();
        let add = |shared: &(AtomicBool, loom::cell::UnsafeCell<i32>)| {
            while shared.0.swap(true, Ordering::Relaxed) {
                thread::yield_now();
            }
            shared.1.with_mut(|value| {
                let _ = value;
            });
            shared.0.store(false, Ordering::Relaxed);
        };
        let adder = thread::spawn(move || add(&other));
        add(&shared);
        adder.join().unwrap();
    });
}

/// The waiter announces, looks once more, and sleeps; the waker changes and asks who waits.
fn the_waiter_is_woken() {
    let shared = Arc::new((Waiting::new(), AtomicU32::new(0)));
    let other = shared.clone();
    let waker = thread::spawn(move || {
        other.1.store(1, Ordering::Relaxed);
        other.0.take()
    });
    shared.0.announce();
    let sleeps = shared.1.load(Ordering::Relaxed) == 0;
    let woken = waker.join().unwrap();
    assert!(!sleeps || woken, "the waiter sleeps and nobody wakes it");
}

#[test]
fn a_change_is_seen_or_the_waiter_is_woken() {
    explore(the_waiter_is_woken);
}

#[test]
fn one_waker_of_many_wakes() {
    explore(|| {
        let waiting = Arc::new(Waiting::new());
        waiting.announce();
        let wakers = [0, 1].map(|_| {
            let waiting = waiting.clone();
            thread::spawn(move || waiting.take())
        });
        let woken = wakers.map(|waker| waker.join().unwrap());
        assert_eq!(woken.iter().filter(|&&woken| woken).count(), 1);
    });
}

/// A waiter that looks before it announces.
#[test]
#[should_panic(expected = "nobody wakes it")]
fn a_waiter_that_looks_too_early_is_seen_to_fail() {
    explore(|| {
        let shared = Arc::new((Waiting::new(), AtomicU32::new(0)));
        let other = shared.clone();
        let waker = thread::spawn(move || {
            other.1.store(1, Ordering::Relaxed);
            other.0.take()
        });
        let sleeps = shared.1.load(Ordering::Relaxed) == 0;
        shared.0.announce();
        let woken = waker.join().unwrap();
        assert!(!sleeps || woken, "the waiter sleeps and nobody wakes it");
    });
}
