//! The one ring algorithm: single producer, single consumer, slots of one 64-byte line.
//!
//! A slot is seven payload words and, last, its *sequence word*: the link's epoch and the slot's position
//! since the epoch began. A slot is new exactly if it carries the sequence whose turn it is; the leftovers of
//! an earlier lap, an earlier epoch, or zeroed memory carry another. A frame of more than seven words takes
//! two consecutive slots, the second published before the first, so that half a frame is never seen.
//!
//! Which lines travel: a message moves its own slot's line once, from producer to consumer, like a bare flag
//! would. The consumed index stays with the consumer: the producer looks at it only when its cached copy says
//! that the ring is full, the consumer writes it after each quarter of the ring and when it finds no more.

use crate::{FRAME_WORDS_MAX, Frame, FrameReceiver, FrameSender, Full, Garbage, Memory};
use satrap_sync::Ordering::{Acquire, Relaxed, Release};

/// Payload words of a slot.
pub const SLOT_PAYLOAD: usize = 7;
/// The word of a slot that holds its sequence.
const SEQUENCE: usize = 7;
/// Fewest words that need a second slot.
const TWO_SLOTS_MIN: usize = SLOT_PAYLOAD + 1;
/// Where the consumed index stands in the consumer's memory.
const CONSUMED: (usize, usize) = (0, 0);
/// Positions count 32 bits; a ring must be far shorter for "before" and "after" to have a meaning.
const SLOTS_MAX: usize = 1 << 16;

/// Tells one life of a ring from all others over the same memory. Never zero, as fresh memory is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Epoch(u32);

impl Epoch {
    /// The only epoch of a ring whose memory is never used again.
    pub const ONLY: Epoch = Epoch::between(0, 0);

    /// The epoch of a ring between two kernels of these generations. It repeats only when a kernel was
    /// restarted 2^15 times, and by then [`Sender::new`] has wiped the ring as often.
    pub const fn between(producer: u32, consumer: u32) -> Epoch {
        Epoch(1 << 31 | (producer & 0x7fff) << 16 | consumer & 0xffff)
    }

    /// What the slot at `position` carries when it is written, and what an index is published as.
    #[inline(always)]
    const fn stamp(self, position: u32) -> u64 {
        (self.0 as u64) << 32 | position as u64
    }

    /// The position of a stamp of this epoch.
    #[inline(always)]
    const fn position(self, stamp: u64) -> Option<u32> {
        if (stamp >> 32) as u32 == self.0 {
            Some(stamp as u32)
        } else {
            None
        }
    }
}

/// The producer's end.
pub struct Sender<M> {
    slots: M,
    consumed: M,
    epoch: Epoch,
    /// Position of the next slot to write.
    next: u32,
    /// First position that may not be written yet, by the last consumed index seen.
    limit: u32,
}

impl<M: Memory> Sender<M> {
    /// The producer's end over `slots`, which it alone writes, and the line `consumed`, which it only reads.
    ///
    /// Wipes the slots. Both ends must be made with the same `epoch`, and an epoch be used once.
    ///
    /// # Panics
    /// If `slots` has fewer than 2 or more than 2^16 lines, or a number that is no power of two.
    pub fn new(slots: M, consumed: M, epoch: Epoch) -> Sender<M> {
        let count = checked_count(&slots);
        for slot in 0..count as usize {
            slots.store(slot, SEQUENCE, 0, Relaxed);
            slots.publish(slot);
        }
        Sender {
            slots,
            consumed,
            epoch,
            next: 0,
            limit: count,
        }
    }

    /// Writes the payload of the slot at `position`, all but its sequence.
    #[inline(always)]
    fn fill(&self, position: u32, words: &[u64]) {
        // A loop of constant length, so that the compiler unrolls it.
        for word in 0..SLOT_PAYLOAD {
            let Some(&value) = words.get(word) else { break };
            self.slots.store(position as usize, word, value, Relaxed);
        }
    }

    /// Writes the second slot of a frame at `position`. The consumer looks at it only after the first.
    #[inline(always)]
    fn send_tail(&self, position: u32, tail: &[u64]) {
        self.fill(position, tail);
        self.slots
            .store(position as usize, SEQUENCE, self.epoch.stamp(position), Relaxed);
        self.slots.publish(position as usize);
    }

    /// Looks at the consumed index; whether `slots` are free now.
    #[cold]
    fn has_room(&mut self, slots: u32) -> bool {
        self.observe_consumed();
        self.limit.wrapping_sub(self.next) >= slots
    }

    /// Moves `limit` on by what the consumer says to have consumed. An index of another epoch (the consumer
    /// has not begun this one), one that steps back, or one ahead of what was sent moves nothing: a consumer
    /// that writes nonsense only stops its own messages.
    fn observe_consumed(&mut self) {
        let (line, word) = CONSUMED;
        self.consumed.refresh(line);
        // SYNC POINT ring-reuse: pairs with ring-consumed; the consumer has read what stood in those slots.
        let stamp = self.consumed.load(line, word, Acquire);
        let Some(consumed) = self.epoch.position(stamp) else {
            return;
        };
        let known = self.limit.wrapping_sub(self.slots.lines() as u32);
        if consumed.wrapping_sub(known) <= self.next.wrapping_sub(known) {
            self.limit = consumed.wrapping_add(self.slots.lines() as u32);
        }
    }
}

impl<M: Memory> FrameSender for Sender<M> {
    #[inline]
    fn send(&mut self, frame: &[u64]) -> Result<(), Full> {
        let len = frame.len();
        let slots = slots_of(len).expect("a frame has 1 to 14 words, as `send` asks of its caller");
        if self.limit.wrapping_sub(self.next) < slots && !self.has_room(slots) {
            return Err(Full);
        }
        let (head, tail) = frame.split_at(len.min(SLOT_PAYLOAD));
        if !tail.is_empty() {
            self.send_tail(self.next.wrapping_add(1), tail);
        }
        self.fill(self.next, head);
        let slot = self.next as usize;
        self.slots.store(slot, 0, head[0] & !0xff | len as u64, Relaxed);
        // SYNC POINT ring-publish: pairs with ring-take; the whole frame is visible to who sees this.
        self.slots
            .store(slot, SEQUENCE, self.epoch.stamp(self.next), Release);
        self.slots.publish(slot);
        self.next = self.next.wrapping_add(slots);
        Ok(())
    }

    fn has_unconsumed(&mut self) -> bool {
        self.observe_consumed();
        self.limit.wrapping_sub(self.next) != self.slots.lines() as u32
    }
}

/// The consumer's end.
pub struct Receiver<M> {
    slots: M,
    consumed: M,
    epoch: Epoch,
    /// Position of the next slot to take.
    next: u32,
    /// Position up to which consumption was declared.
    declared: u32,
    /// How many slots to consume between declarations.
    batch: u32,
}

impl<M: Memory> Receiver<M> {
    /// The consumer's end over `slots`, which it only reads, and the line `consumed`, which it alone writes.
    ///
    /// Both ends must be made with the same `epoch`, and an epoch be used once.
    ///
    /// # Panics
    /// If `slots` has fewer than 2 or more than 2^16 lines, or a number that is no power of two.
    pub fn new(slots: M, consumed: M, epoch: Epoch) -> Receiver<M> {
        let batch = (checked_count(&slots) / 4).max(1);
        let receiver = Receiver {
            slots,
            consumed,
            epoch,
            next: 0,
            declared: 0,
            batch,
        };
        receiver.declare();
        receiver
    }

    fn declare(&self) {
        let (line, word) = CONSUMED;
        // SYNC POINT ring-consumed: pairs with ring-reuse; our reads of those slots are over.
        self.consumed
            .store(line, word, self.epoch.stamp(self.next), Release);
        self.consumed.publish(line);
    }

    /// Copies the payload of a slot out, each word read once.
    #[inline(always)]
    fn copy_out(&self, position: u32, into: &mut [u64; FRAME_WORDS_MAX], at: usize) {
        for word in 0..SLOT_PAYLOAD {
            into[at + word] = self.slots.load(position as usize, word, Relaxed);
        }
    }

    /// The slot does not carry the sequence whose turn it is: is it old, or garbage?
    #[inline(never)]
    fn take_nothing(&mut self, seen: u64) -> Result<bool, Garbage> {
        let lap_before = self.next.wrapping_sub(self.slots.lines() as u32);
        match self.epoch.position(seen) {
            Some(position) if position != lap_before => Err(self.garbage(self.next, seen)),
            _ => {
                self.acknowledge();
                Ok(false)
            }
        }
    }

    #[cold]
    fn garbage(&self, position: u32, seen: u64) -> Garbage {
        Garbage::Sequence {
            expected: self.epoch.stamp(position),
            seen,
        }
    }

    /// Takes the second slot of a frame whose first stands in `words`.
    #[inline(always)]
    fn take_two(&mut self, words: &mut [u64; FRAME_WORDS_MAX]) -> Result<bool, Garbage> {
        let position = self.next.wrapping_add(1);
        self.slots.refresh(position as usize);
        // It was published before the first slot, whose ring-take makes it visible.
        let seen = self.slots.load(position as usize, SEQUENCE, Relaxed);
        if seen != self.epoch.stamp(position) {
            return Err(self.garbage(position, seen));
        }
        self.copy_out(position, words, SLOT_PAYLOAD);
        self.advance(2);
        Ok(true)
    }

    /// The next `slots` slots are copied out.
    #[inline(always)]
    fn advance(&mut self, slots: u32) {
        self.next = self.next.wrapping_add(slots);
        if self.next.wrapping_sub(self.declared) >= self.batch {
            self.acknowledge();
        }
    }
}

impl<M: Memory> FrameReceiver for Receiver<M> {
    #[inline]
    fn receive(&mut self, into: &mut Frame) -> Result<bool, Garbage> {
        self.slots.refresh(self.next as usize);
        // SYNC POINT ring-take: pairs with ring-publish.
        let seen = self.slots.load(self.next as usize, SEQUENCE, Acquire);
        if seen != self.epoch.stamp(self.next) {
            return self.take_nothing(seen);
        }
        let words = into.array_mut();
        self.copy_out(self.next, words, 0);
        match slots_of(usize::from(words[0] as u8)) {
            Some(1) => {
                self.advance(1);
                Ok(true)
            }
            Some(_) => self.take_two(words),
            None => Err(Garbage::WordCount { seen: words[0] as u8 }),
        }
    }

    #[inline(always)]
    fn is_empty(&self) -> bool {
        self.slots.refresh(self.next as usize);
        self.slots.load(self.next as usize, SEQUENCE, Relaxed) != self.epoch.stamp(self.next)
    }

    #[inline]
    fn acknowledge(&mut self) {
        if self.declared != self.next {
            self.declared = self.next;
            self.declare();
        }
    }
}

/// How many slots a frame of `words` words takes, if it can exist.
#[inline(always)]
fn slots_of(words: usize) -> Option<u32> {
    match words {
        1..=SLOT_PAYLOAD => Some(1),
        TWO_SLOTS_MIN..=FRAME_WORDS_MAX => Some(2),
        _ => None,
    }
}

fn checked_count<M: Memory>(slots: &M) -> u32 {
    let count = slots.lines();
    assert!(
        count.is_power_of_two() && (2..=SLOTS_MAX).contains(&count),
        "a ring has 2 to 2^16 slots"
    );
    count as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local_ring;

    #[test]
    fn a_ring_runs_on_when_its_positions_wrap() {
        let (mut sender, mut receiver) = local_ring(8);
        let start = u32::MAX - 20;
        (sender.next, sender.limit) = (start, start.wrapping_add(8));
        (receiver.next, receiver.declared) = (start, start);
        for number in 0..100 {
            sender.send(&[number << 8; 9]).unwrap();
            sender.send(&[number << 8; 2]).unwrap();
            let mut frame = Frame::default();
            assert_eq!(receiver.receive(&mut frame), Ok(true));
            assert_eq!(frame.words()[8], number << 8);
            assert_eq!(receiver.receive(&mut frame), Ok(true));
            assert_eq!(frame.words()[1], number << 8);
            assert_eq!(receiver.receive(&mut frame), Ok(false));
            assert!(!sender.has_unconsumed());
        }
        assert!(sender.next < start);
    }

    #[test]
    fn a_consumer_that_declares_nonsense_only_stops_its_own_messages() {
        let (mut sender, _receiver) = local_ring(4);
        for _ in 0..4 {
            sender.send(&[0]).unwrap();
        }
        for nonsense in [5, 1 << 31, u32::MAX] {
            let (line, word) = CONSUMED;
            sender
                .consumed
                .store(line, word, Epoch::ONLY.stamp(nonsense), Release);
            assert_eq!(sender.send(&[0]), Err(Full));
        }
        sender
            .consumed
            .store(0, 0, Epoch::between(0, 1).stamp(4), Release);
        assert_eq!(sender.send(&[0]), Err(Full));
        sender.consumed.store(0, 0, Epoch::ONLY.stamp(1), Release);
        assert_eq!(sender.send(&[0]), Ok(()));
    }

    #[test]
    #[should_panic(expected = "1 to 14 words")]
    fn a_frame_of_fifteen_words_is_the_callers_bug() {
        let _ = local_ring(4).0.send(&[0; 15]);
    }
}
