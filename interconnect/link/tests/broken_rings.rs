//! Each check of the ring suite is seen to fail: for each there is a ring that breaks just that promise.

mod common;

use common::Local;
use satrap_link::conformance::{RingFixture, rings};
use satrap_link::*;
use satrap_sync::Ordering::Relaxed;

/// The ways in which these rings are broken.
mod fault {
    pub const NONE: u8 = 0;
    pub const LOSES: u8 = 1;
    pub const REPEATS: u8 = 2;
    pub const CUTS_LONG_FRAMES: u8 = 3;
    pub const SAYS_SENT_WHEN_FULL: u8 = 4;
    pub const NEVER_EMPTY: u8 = 5;
    pub const FORGETS_ACKNOWLEDGING: u8 = 6;
    pub const BELIEVES_ANYTHING: u8 = 7;
    pub const IGNORES_EPOCHS: u8 = 8;
    pub const TAKES_UNPUBLISHED: u8 = 9;
}
use fault::*;

struct Broken<const FAULT: u8>(Local);

struct BrokenSender<const FAULT: u8> {
    inner: LocalSender,
    sent: u64,
}

struct BrokenReceiver<const FAULT: u8> {
    inner: LocalReceiver,
    slots: LocalLines,
    last: Option<Frame>,
    taken: u64,
}

impl<const FAULT: u8> RingFixture for Broken<FAULT> {
    type Sender = BrokenSender<FAULT>;
    type Receiver = BrokenReceiver<FAULT>;

    fn new(slots: usize) -> Self {
        Broken(Local::new(slots))
    }

    fn connect(&self, epoch: Epoch) -> (Self::Sender, Self::Receiver) {
        let epoch = if FAULT == IGNORES_EPOCHS {
            Epoch::ONLY
        } else {
            epoch
        };
        let slots = self.0.slots();
        // A ring that ignores epochs does not wipe either: it keeps what stands in its slots.
        let kept: Vec<u64> = (0..slots.lines()).map(|slot| self.peek(slot, 7)).collect();
        let (sender, inner) = self.0.connect(epoch);
        if FAULT == IGNORES_EPOCHS {
            kept.iter()
                .enumerate()
                .for_each(|(slot, &sequence)| self.poke(slot, 7, sequence));
        }
        let receiver = BrokenReceiver {
            inner,
            slots,
            last: None,
            taken: 0,
        };
        (
            BrokenSender {
                inner: sender,
                sent: 0,
            },
            receiver,
        )
    }

    fn peek(&self, slot: usize, word: usize) -> u64 {
        self.0.peek(slot, word)
    }

    fn poke(&self, slot: usize, word: usize, value: u64) {
        self.0.poke(slot, word, value);
    }
}

impl<const FAULT: u8> FrameSender for BrokenSender<FAULT> {
    fn send(&mut self, frame: &[u64]) -> Result<(), Full> {
        self.sent += 1;
        match FAULT {
            LOSES if self.sent.is_multiple_of(7) => Ok(()),
            CUTS_LONG_FRAMES => self.inner.send(&frame[..frame.len().min(SLOT_PAYLOAD)]),
            SAYS_SENT_WHEN_FULL => {
                let _ = self.inner.send(frame);
                Ok(())
            }
            _ => self.inner.send(frame),
        }
    }

    fn has_unconsumed(&mut self) -> bool {
        self.inner.has_unconsumed()
    }
}

impl<const FAULT: u8> BrokenReceiver<FAULT> {
    /// Gives the last frame once more.
    fn repeat(&self, into: &mut Frame) -> bool {
        *into = self.last.unwrap_or(*into);
        self.last.is_some()
    }
}

impl<const FAULT: u8> FrameReceiver for BrokenReceiver<FAULT> {
    fn receive(&mut self, into: &mut Frame) -> Result<bool, Garbage> {
        self.taken += 1;
        if FAULT == REPEATS && self.taken.is_multiple_of(5) && self.last.is_some() {
            return Ok(self.repeat(into));
        }
        if FAULT == TAKES_UNPUBLISHED && self.slots.load(1, 7, Relaxed) != 0 {
            return Ok(self.repeat(into));
        }
        match self.inner.take() {
            Err(_) if FAULT == BELIEVES_ANYTHING => Ok(self.repeat(into)),
            Ok(Some(frame)) => {
                self.last = Some(frame);
                Ok(self.repeat(into))
            }
            Ok(None) => Ok(false),
            Err(garbage) => Err(garbage),
        }
    }

    fn is_empty(&self) -> bool {
        let unpublished = FAULT == TAKES_UNPUBLISHED && self.slots.load(1, 7, Relaxed) != 0;
        FAULT != NEVER_EMPTY && !unpublished && self.inner.is_empty()
    }

    fn acknowledge(&mut self) {
        if FAULT != FORGETS_ACKNOWLEDGING {
            self.inner.acknowledge();
        }
    }
}

/// Each line: the test, the fault, the check that sees it, and what the check says.
macro_rules! rejected {
    ($($name:ident: $fault:ident by $check:ident, $message:literal;)*) => {
        $(
            #[test]
            #[should_panic(expected = $message)]
            fn $name() {
                rings::$check::<Broken<{ $fault }>>();
            }
        )*
    };
}

rejected! {
    a_loss_is_seen: LOSES by frames_arrive_unchanged_and_in_order, "changed";
    a_loss_between_threads_is_seen: LOSES by two_threads_lose_and_repeat_nothing, "changed";
    a_repetition_is_seen: REPEATS by frames_arrive_unchanged_and_in_order, "changed";
    a_repetition_from_an_empty_ring_is_seen: REPEATS by an_empty_ring_gives_nothing, "came out of an empty ring";
    a_cut_frame_is_seen: CUTS_LONG_FRAMES by frames_arrive_unchanged_and_in_order, "length changed";
    a_squeezed_frame_is_seen: CUTS_LONG_FRAMES by a_long_frame_waits_for_two_free_slots, "no room for a long";
    an_overfull_ring_is_seen: SAYS_SENT_WHEN_FULL by a_full_ring_refuses_and_loses_nothing, "the ring is full";
    a_ring_that_is_never_empty_is_seen: NEVER_EMPTY by an_empty_ring_gives_nothing, "but says otherwise";
    a_hidden_consumption_is_seen: FORGETS_ACKNOWLEDGING by consumption_is_declared_to_the_sender, "declared consumed";
    a_believed_word_count_is_seen: BELIEVES_ANYTHING by an_impossible_word_count_is_garbage, "impossible count";
    a_believed_sequence_is_seen: BELIEVES_ANYTHING by a_skipped_sequence_is_garbage, "not yet due";
    a_believed_second_slot_is_seen: BELIEVES_ANYTHING by a_foreign_second_slot_is_garbage, "foreign second slot";
    a_frame_of_a_former_life_is_seen: IGNORES_EPOCHS by a_new_epoch_forgets_the_old_one, "but says otherwise";
    half_a_frame_is_noticed: TAKES_UNPUBLISHED by half_a_frame_is_never_seen, "but says otherwise";
}

#[test]
fn the_same_ring_without_a_fault_conforms() {
    conformance::ring::<Broken<NONE>>();
}
