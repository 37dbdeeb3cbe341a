//! Fixtures that several tests share.

#![allow(dead_code)] // Each test program uses its part.

use satrap_link::conformance::{DoorbellFixture, RingFixture};
use satrap_link::*;
use satrap_region::{LINE, Lines, Region};
use satrap_sync::Ordering::Relaxed;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// Rings over the heap of one satellite.
pub struct Local {
    slots: LocalLines,
    consumed: LocalLines,
}

impl Local {
    /// Its slots.
    pub fn slots(&self) -> LocalLines {
        self.slots.clone()
    }
}

impl RingFixture for Local {
    type Sender = LocalSender;
    type Receiver = LocalReceiver;

    fn new(slots: usize) -> Local {
        Local {
            slots: LocalLines::new(slots),
            consumed: LocalLines::new(1),
        }
    }

    fn connect(&self, epoch: Epoch) -> (LocalSender, LocalReceiver) {
        let (slots, consumed) = (&self.slots, &self.consumed);
        (
            Sender::new(slots.clone(), consumed.clone(), epoch),
            Receiver::new(slots.clone(), consumed.clone(), epoch),
        )
    }

    fn peek(&self, slot: usize, word: usize) -> u64 {
        self.slots.load(slot, word, Relaxed)
    }

    fn poke(&self, slot: usize, word: usize, value: u64) {
        self.slots.store(slot, word, value, Relaxed);
    }
}

/// Rings over memory that satellites share.
pub struct Shared {
    slots: Lines,
    consumed: Lines,
}

impl RingFixture for Shared {
    type Sender = RegionSender;
    type Receiver = RegionReceiver;

    fn new(slots: usize) -> Shared {
        Shared {
            slots: Lines::new(&Region::from_heap(slots * LINE), 0, slots).unwrap(),
            consumed: Lines::new(&Region::from_heap(LINE), 0, 1).unwrap(),
        }
    }

    fn connect(&self, epoch: Epoch) -> (RegionSender, RegionReceiver) {
        let (slots, consumed) = (&self.slots, &self.consumed);
        (
            Sender::new(slots.clone(), consumed.clone(), epoch),
            Receiver::new(slots.clone(), consumed.clone(), epoch),
        )
    }

    fn peek(&self, slot: usize, word: usize) -> u64 {
        self.slots.load(slot, word, Relaxed)
    }

    fn poke(&self, slot: usize, word: usize, value: u64) {
        self.slots.store(slot, word, value, Relaxed);
    }
}

/// A bell of two flags: rung to wake, rung to interrupt.
#[derive(Default)]
pub struct Flags {
    rung: Mutex<(bool, bool)>,
    woken: Condvar,
}

/// A handle on [`Flags`].
#[derive(Clone, Default)]
pub struct FlagBell(pub Arc<Flags>);

impl Bell for FlagBell {
    fn wake(&self) {
        self.0.rung.lock().unwrap().0 = true;
        self.0.woken.notify_all();
    }

    fn interrupt(&self) {
        self.0.rung.lock().unwrap().1 = true;
    }
}

impl FlagBell {
    /// Parks until woken, and empties the bell.
    pub fn park(&self, limit: Duration) -> bool {
        let rung = self.0.rung.lock().unwrap();
        let (mut rung, _) = self
            .0
            .woken
            .wait_timeout_while(rung, limit, |rung| !rung.0)
            .unwrap();
        std::mem::take(&mut rung.0)
    }

    /// Whether it was rung to interrupt, and empties it.
    pub fn interrupted(&self) -> bool {
        std::mem::take(&mut self.0.rung.lock().unwrap().1)
    }
}

/// A satellite with an attention word and a bell of flags.
pub struct Satellite {
    word: LocalLines,
    own: OwnAttention<LocalLines>,
    pub bell: FlagBell,
}

impl DoorbellFixture for Satellite {
    type Doorbell = AttentionDoorbell<LocalLines, FlagBell>;

    fn new() -> Satellite {
        let word = LocalLines::new(1);
        Satellite {
            own: OwnAttention::new(word.clone()),
            word,
            bell: FlagBell::default(),
        }
    }

    fn doorbell(&self) -> Self::Doorbell {
        AttentionDoorbell::new(PeerAttention::new(self.word.clone()), self.bell.clone())
    }

    fn set(&self, attention: Attention) {
        self.own.set(attention);
    }

    fn park(&self, limit: Duration) -> bool {
        self.bell.park(limit)
    }

    fn interrupted(&self) -> bool {
        self.bell.interrupted()
    }
}
