//! What every ring must do.
//!
//! A new ring implements the fixture and runs these unchanged, hostile senders among them. `doorbells.rs` is
//! the suite of doorbells.

use super::soon;
use crate::{Epoch, FRAME_WORDS_MAX, FrameReceiver, FrameSender, Full, Garbage, SLOT_PAYLOAD};
use std::{thread, vec::Vec};

/// Memory in which rings can be made, and spoilt.
pub trait RingFixture {
    /// The producer's end.
    type Sender: FrameSender + Send;
    /// The consumer's end.
    type Receiver: FrameReceiver + Send;

    /// Zeroed memory for a ring of `slots` slots and its consumed index.
    fn new(slots: usize) -> Self;

    /// Both ends of a ring over that memory. Called again, with another epoch, when both were restarted.
    fn connect(&self, epoch: Epoch) -> (Self::Sender, Self::Receiver);

    /// What stands in a word of a slot.
    fn peek(&self, slot: usize, word: usize) -> u64;

    /// Writes a word of a slot, as a faulty producer may at any time.
    fn poke(&self, slot: usize, word: usize, value: u64);
}

const SLOTS: usize = 8;
/// Frames that the threads exchange.
const MANY: u64 = 100_000;
const SEQUENCE: usize = 7;

/// The `number`th frame of a test: its length and every word follow from the number.
fn frame(number: u64, words: usize) -> Vec<u64> {
    (0..words as u64)
        .map(|word| {
            number
                .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                .rotate_left(word as u32)
                & !0xff
        })
        .collect()
}

fn length(number: u64) -> usize {
    (number * 5 % FRAME_WORDS_MAX as u64) as usize + 1
}

/// Takes a frame and compares it with the one sent.
fn expect(receiver: &mut impl FrameReceiver, sent: &[u64]) {
    let taken = receiver.take().expect("a correct producer writes no garbage");
    let taken = taken.expect("a frame that was sent can be taken");
    compare(taken.words(), sent);
}

fn compare(taken: &[u64], sent: &[u64]) {
    assert_eq!(taken.len(), sent.len(), "the frame's length changed");
    assert_eq!(
        taken[0],
        sent[0] & !0xff | sent.len() as u64,
        "the header changed"
    );
    assert_eq!(taken[1..], sent[1..], "the frame's words changed");
}

fn expect_nothing(receiver: &mut impl FrameReceiver) {
    assert!(receiver.is_empty(), "the ring is empty but says otherwise");
    assert!(
        matches!(receiver.take(), Ok(None)),
        "something came out of an empty ring"
    );
}

/// Frames of every length come out as they went in, at every place of the ring, over the end too.
pub fn frames_arrive_unchanged_and_in_order<F: RingFixture>() {
    let (mut sender, mut receiver) = F::new(SLOTS).connect(Epoch::ONLY);
    for number in 0..50 * SLOTS as u64 {
        let frames = [0, 1].map(|i| frame(2 * number + i, length(2 * number + i)));
        for frame in &frames {
            sender.send(frame).expect("an empty ring has room for four slots");
        }
        for frame in &frames {
            assert!(!receiver.is_empty(), "the ring holds a frame but says otherwise");
            expect(&mut receiver, frame);
        }
        expect_nothing(&mut receiver);
    }
}

/// Exactly as many frames fit as there are slots; one more is refused, none is lost, and room comes back.
pub fn a_full_ring_refuses_and_loses_nothing<F: RingFixture>() {
    let (mut sender, mut receiver) = F::new(SLOTS).connect(Epoch::ONLY);
    for lap in 0..5 {
        for number in 0..SLOTS as u64 {
            assert_eq!(
                sender.send(&frame(lap * 100 + number, 3)),
                Ok(()),
                "a slot is free"
            );
        }
        assert_eq!(sender.send(&frame(0, 1)), Err(Full), "the ring is full");
        for number in 0..SLOTS as u64 {
            expect(&mut receiver, &frame(lap * 100 + number, 3));
        }
        expect_nothing(&mut receiver);
    }
}

/// A frame of two slots does not squeeze into one, wherever in the ring that is.
pub fn a_long_frame_waits_for_two_free_slots<F: RingFixture>() {
    let (mut sender, mut receiver) = F::new(SLOTS).connect(Epoch::ONLY);
    for start in 0..2 * SLOTS as u64 {
        let short = frame(start, SLOT_PAYLOAD);
        let long = frame(start, SLOT_PAYLOAD + 1);
        for _ in 0..SLOTS - 1 {
            sender.send(&short).expect("a slot is free");
        }
        assert_eq!(
            sender.send(&long),
            Err(Full),
            "one slot is no room for a long frame"
        );
        expect(&mut receiver, &short);
        receiver.acknowledge();
        assert_eq!(sender.send(&long), Ok(()), "two slots are room for a long frame");
        for _ in 0..SLOTS - 2 {
            expect(&mut receiver, &short);
        }
        expect(&mut receiver, &long);
        expect_nothing(&mut receiver);
    }
}

/// Nothing comes out of a new ring, nor out of one whose every slot was used and taken.
pub fn an_empty_ring_gives_nothing<F: RingFixture>() {
    let (mut sender, mut receiver) = F::new(SLOTS).connect(Epoch::ONLY);
    expect_nothing(&mut receiver);
    for number in 0..3 * SLOTS as u64 {
        sender.send(&frame(number, 2)).expect("the ring is empty");
        expect(&mut receiver, &frame(number, 2));
        expect_nothing(&mut receiver);
    }
}

/// The sender learns what was consumed when the receiver says so, when it finds nothing more, and otherwise
/// early enough that half a ring of room never stays hidden.
pub fn consumption_is_declared_to_the_sender<F: RingFixture>() {
    let (mut sender, mut receiver) = F::new(SLOTS).connect(Epoch::ONLY);
    assert!(!sender.has_unconsumed(), "nothing was sent");
    for by_acknowledging in [true, false] {
        sender.send(&frame(1, 1)).expect("the ring is empty");
        assert!(sender.has_unconsumed(), "a frame was sent and not taken");
        expect(&mut receiver, &frame(1, 1));
        if by_acknowledging {
            receiver.acknowledge();
        } else {
            expect_nothing(&mut receiver);
        }
        assert!(!sender.has_unconsumed(), "the frame was declared consumed");
    }
    for number in 0..SLOTS as u64 {
        sender.send(&frame(number, 1)).expect("a slot is free");
    }
    for number in 0..SLOTS as u64 / 2 {
        expect(&mut receiver, &frame(number, 1));
    }
    assert_eq!(
        sender.send(&frame(0, 1)),
        Ok(()),
        "half of a full ring was taken: there is room"
    );
}

/// A frame of no words or of more than 14 is refused, named, and refused again: the link must be reset.
pub fn an_impossible_word_count_is_garbage<F: RingFixture>() {
    for seen in [0, 15, 255] {
        let memory = F::new(SLOTS);
        let (mut sender, mut receiver) = memory.connect(Epoch::ONLY);
        sender.send(&frame(1, 4)).expect("the ring is empty");
        memory.poke(0, 0, u64::from(seen));
        for _ in 0..2 {
            let result = receiver.take().err();
            assert_eq!(
                result,
                Some(Garbage::WordCount { seen }),
                "an impossible count of words was taken"
            );
        }
    }
}

/// A slot whose sequence was not yet due is refused.
pub fn a_skipped_sequence_is_garbage<F: RingFixture>() {
    let memory = F::new(SLOTS);
    let (mut sender, mut receiver) = memory.connect(Epoch::ONLY);
    sender.send(&frame(1, 1)).expect("the ring is empty");
    sender.send(&frame(2, 1)).expect("the ring is empty");
    let (expected, seen) = (memory.peek(0, SEQUENCE), memory.peek(1, SEQUENCE));
    memory.poke(0, SEQUENCE, seen);
    let result = receiver.take().err();
    assert_eq!(
        result,
        Some(Garbage::Sequence { expected, seen }),
        "a sequence not yet due was taken"
    );
}

/// A long frame whose second slot is not its own is refused.
pub fn a_foreign_second_slot_is_garbage<F: RingFixture>() {
    let memory = F::new(SLOTS);
    let (mut sender, mut receiver) = memory.connect(Epoch::ONLY);
    sender
        .send(&frame(1, FRAME_WORDS_MAX))
        .expect("the ring is empty");
    let expected = memory.peek(1, SEQUENCE);
    memory.poke(1, SEQUENCE, 0);
    let result = receiver.take().err();
    assert_eq!(
        result,
        Some(Garbage::Sequence { expected, seen: 0 }),
        "a foreign second slot was taken"
    );
}

/// After a restart no frame of the former life comes out, its consumed index hides no room, and the new
/// life's frames arrive.
pub fn a_new_epoch_forgets_the_old_one<F: RingFixture>() {
    let memory = F::new(SLOTS);
    for generation in 0..20 {
        for (producer, consumer) in [(generation, generation), (generation, generation + 1)] {
            let (mut sender, mut receiver) = memory.connect(Epoch::between(producer, consumer));
            expect_nothing(&mut receiver);
            assert!(!sender.has_unconsumed(), "the new life has sent nothing");
            let sent: Vec<_> = (0..SLOTS as u64).map(|number| frame(number + 1, 2)).collect();
            for frame in &sent {
                assert_eq!(sender.send(frame), Ok(()), "the new life has the whole ring");
            }
            assert_eq!(
                sender.send(&sent[0]),
                Err(Full),
                "an index of the former life made room"
            );
            for frame in &sent[..generation as usize % SLOTS] {
                expect(&mut receiver, frame);
            }
        }
    }
}

/// The leftovers of an earlier epoch are never taken, even if the memory was not wiped; and a producer that
/// dies between the two slots of a frame leaves the consumer with neither frame nor garbage.
pub fn half_a_frame_is_never_seen<F: RingFixture>() {
    let memory = F::new(SLOTS);
    let (mut sender, mut receiver) = memory.connect(Epoch::between(1, 1));
    let before = memory.peek(0, SEQUENCE);
    sender
        .send(&frame(1, FRAME_WORDS_MAX))
        .expect("the ring is empty");
    let published = memory.peek(0, SEQUENCE);
    memory.poke(0, SEQUENCE, before);
    expect_nothing(&mut receiver);

    let (mut sender, mut receiver) = memory.connect(Epoch::between(2, 1));
    memory.poke(0, SEQUENCE, published);
    expect_nothing(&mut receiver);
    sender
        .send(&frame(2, FRAME_WORDS_MAX))
        .expect("the ring is empty");
    expect(&mut receiver, &frame(2, FRAME_WORDS_MAX));
}

/// Two threads, a ring that is mostly full or mostly empty, frames of every length.
pub fn two_threads_lose_and_repeat_nothing<F: RingFixture>() {
    let (mut sender, mut receiver) = F::new(SLOTS).connect(Epoch::ONLY);
    thread::scope(|scope| {
        scope.spawn(move || {
            for number in 0..MANY {
                let frame = frame(number, length(number));
                assert!(soon(|| sender.send(&frame).is_ok()), "the receiver made no room");
            }
        });
        for number in 0..MANY {
            assert!(soon(|| !receiver.is_empty()), "a frame was lost");
            expect(&mut receiver, &frame(number, length(number)));
        }
    });
}
