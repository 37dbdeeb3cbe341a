//! Each check of the doorbell suite is seen to fail: for each there is a doorbell that breaks just that promise.

mod common;

use common::{FlagBell, Satellite};
use satrap_link::conformance::{DoorbellFixture, doorbells};
use satrap_link::{Attention, Bell, Doorbell};
use std::sync::Mutex;
use std::time::Duration;

/// The ways in which these doorbells are broken.
mod fault {
    pub const SILENT: u8 = 1;
    pub const ALWAYS_WAKES: u8 = 2;
    pub const INTERRUPTS_SLEEPERS: u8 = 3;
    pub const FORGETS_BEFORE_PARKING: u8 = 4;
    pub const RINGS_THE_FIRST_TIME_ONLY: u8 = 5;
    pub const NEVER_REPEATS: u8 = 6;
}
use fault::*;

struct Broken<const FAULT: u8>(Satellite);

struct BrokenBell<const FAULT: u8> {
    whole: <Satellite as DoorbellFixture>::Doorbell,
    bell: FlagBell,
    used: Mutex<bool>,
}

impl<const FAULT: u8> Doorbell for BrokenBell<FAULT> {
    fn notify(&self) {
        match FAULT {
            SILENT => {}
            ALWAYS_WAKES => self.bell.wake(),
            INTERRUPTS_SLEEPERS => self.bell.interrupt(),
            RINGS_THE_FIRST_TIME_ONLY if std::mem::replace(&mut *self.used.lock().unwrap(), true) => {}
            _ => self.whole.notify(),
        }
    }

    fn repeat(&self) {
        match FAULT {
            NEVER_REPEATS => self.notify(),
            _ => self.whole.repeat(),
        }
    }
}

impl<const FAULT: u8> DoorbellFixture for Broken<FAULT> {
    type Doorbell = BrokenBell<FAULT>;

    fn new() -> Self {
        Broken(Satellite::new())
    }

    fn doorbell(&self) -> Self::Doorbell {
        BrokenBell {
            whole: self.0.doorbell(),
            bell: self.0.bell.clone(),
            used: Mutex::new(false),
        }
    }

    fn set(&self, attention: Attention) {
        self.0.set(attention);
    }

    fn park(&self, limit: Duration) -> bool {
        if FAULT == FORGETS_BEFORE_PARKING {
            self.0.park(Duration::ZERO);
        }
        self.0.park(limit)
    }

    fn interrupted(&self) -> bool {
        self.0.interrupted()
    }
}

/// Each line: the test, the fault, the check that sees it, and what the check says.
macro_rules! rejected {
    ($($name:ident: $fault:ident by $check:ident, $message:literal;)*) => {
        $(
            #[test]
            #[should_panic(expected = $message)]
            fn $name() {
                doorbells::$check::<Broken<{ $fault }>>();
            }
        )*
    };
}

rejected! {
    a_needless_bell_is_heard: ALWAYS_WAKES by a_polling_receiver_is_not_rung, "polling satellite was woken";
    a_silent_bell_is_noticed: SILENT by a_parked_receiver_is_woken, "was not woken";
    an_interrupted_sleeper_is_noticed: INTERRUPTS_SLEEPERS by a_parked_receiver_is_woken, "was not woken";
    a_missing_interrupt_is_noticed: ALWAYS_WAKES by a_busy_receiver_is_interrupted, "was not interrupted";
    a_forgetful_bell_is_noticed: FORGETS_BEFORE_PARKING by a_bell_rung_before_the_park_ends_it, "was lost";
    a_bell_for_each_message_is_heard: ALWAYS_WAKES by each_setting_is_rung_once, "rung twice";
    a_bell_that_rings_once_is_noticed: RINGS_THE_FIRST_TIME_ONLY by each_setting_is_rung_once, "parked again";
    a_bell_that_is_not_repeated_is_noticed: NEVER_REPEATS by a_repeated_bell_rings_again, "repeated bell did not";
    a_lost_wake_up_is_noticed: RINGS_THE_FIRST_TIME_ONLY by no_wake_up_is_lost, "wake-up was lost";
}
