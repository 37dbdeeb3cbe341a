//! What every doorbell must do.
//!
//! A new doorbell implements the fixture and runs these unchanged; a test is named for the promise that it
//! checks. `rings.rs` is the suite of rings.

use super::soon;
use crate::{Attention, Doorbell, FrameReceiver, FrameSender, local_ring};
use core::time::Duration;
use std::thread;

/// A satellite's attention word, a doorbell to it, and the place where it parks.
pub trait DoorbellFixture: Sync {
    /// The sender's doorbell.
    type Doorbell: Doorbell + Send;

    /// A satellite whose attention is [`Attention::Busy`], never rung.
    fn new() -> Self;

    /// A doorbell to it.
    fn doorbell(&self) -> Self::Doorbell;

    /// The satellite sets its attention word.
    fn set(&self, attention: Attention);

    /// The satellite parks until the bell wakes it, and empties the bell; false if it was not rung in `limit`.
    fn park(&self, limit: Duration) -> bool;

    /// Whether the satellite's running process was interrupted since this was last asked.
    fn interrupted(&self) -> bool;
}

/// Long enough for any bell on a loaded machine.
const LONG: Duration = Duration::from_secs(2);
/// Long enough to believe that a bell was not rung, given that ringing comes before it.
const SHORT: Duration = Duration::from_millis(20);
/// Frames sent to a receiver that parks as soon as it can.
const FRAMES: u64 = 5_000;

/// No bell for a receiver that looks anyway.
pub fn a_polling_receiver_is_not_rung<F: DoorbellFixture>() {
    let satellite = F::new();
    satellite.set(Attention::Polling);
    satellite.doorbell().notify();
    assert!(!satellite.park(SHORT), "a polling satellite was woken");
    assert!(!satellite.interrupted(), "a polling satellite was interrupted");
}

/// A sleeper is woken, and not interrupted.
pub fn a_parked_receiver_is_woken<F: DoorbellFixture>() {
    let satellite = F::new();
    let doorbell = satellite.doorbell();
    thread::scope(|scope| {
        satellite.set(Attention::Parked);
        let parked = scope.spawn(|| satellite.park(LONG));
        thread::sleep(SHORT);
        doorbell.notify();
        assert!(
            parked.join().is_ok_and(|woken| woken),
            "a parked satellite was not woken"
        );
    });
    assert!(!satellite.interrupted(), "a parked satellite was interrupted");
}

/// A busy satellite is interrupted, and not woken.
pub fn a_busy_receiver_is_interrupted<F: DoorbellFixture>() {
    let satellite = F::new();
    satellite.set(Attention::Busy);
    satellite.doorbell().notify();
    assert!(satellite.interrupted(), "a busy satellite was not interrupted");
    assert!(
        !satellite.park(SHORT),
        "a busy satellite's bell was rung to wake it"
    );
}

/// The bell is sticky: rung between the last look and the park, it is not lost.
pub fn a_bell_rung_before_the_park_ends_it<F: DoorbellFixture>() {
    let satellite = F::new();
    satellite.set(Attention::Parked);
    satellite.doorbell().notify();
    assert!(satellite.park(LONG), "a bell rung before the park was lost");
}

/// Many messages to one sleeper ring once; when it sleeps again, again.
pub fn each_setting_is_rung_once<F: DoorbellFixture>() {
    let satellite = F::new();
    let doorbell = satellite.doorbell();
    for _ in 0..3 {
        satellite.set(Attention::Parked);
        doorbell.notify();
        assert!(satellite.park(LONG), "a satellite that parked again was not rung");
        doorbell.notify();
        assert!(
            !satellite.park(SHORT),
            "a satellite was rung twice for one setting of its word"
        );
    }
}

/// A sender that doubts its bell can ring again for the same setting; still not for a receiver that polls.
pub fn a_repeated_bell_rings_again<F: DoorbellFixture>() {
    let satellite = F::new();
    let doorbell = satellite.doorbell();
    satellite.set(Attention::Parked);
    doorbell.notify();
    assert!(satellite.park(LONG), "a parked satellite was not woken");
    doorbell.repeat();
    assert!(satellite.park(LONG), "a repeated bell did not ring");
    satellite.set(Attention::Polling);
    doorbell.repeat();
    assert!(!satellite.park(SHORT), "a polling satellite was woken");
}

/// A receiver that parks whenever it can takes every frame of a sender that rings only when it must.
pub fn no_wake_up_is_lost<F: DoorbellFixture>() {
    let satellite = F::new();
    let doorbell = satellite.doorbell();
    let (mut sender, mut receiver) = local_ring(8);
    thread::scope(|scope| {
        scope.spawn(move || {
            for number in 0..FRAMES {
                assert!(
                    soon(|| sender.send(&[number << 8]).is_ok()),
                    "the receiver made no room"
                );
                doorbell.notify();
                (0..number % 512).for_each(|_| core::hint::spin_loop());
            }
        });
        let mut taken = 0;
        while taken < FRAMES {
            satellite.set(Attention::Parked);
            if receiver.is_empty() {
                assert!(satellite.park(LONG), "a wake-up was lost after {taken} frames");
            }
            satellite.set(Attention::Polling);
            while receiver.take().is_ok_and(|frame| frame.is_some()) {
                taken += 1;
            }
        }
    });
}
