//! What a link offers, whatever carries it: the kernel is written against these traits alone.
//!
//! A *ring* moves frames and keeps state; a *doorbell* only wakes and keeps none (Barrelfish TN on the SCC
//! §II: interconnect driver and notification driver). Each implementation passes `conformance` unchanged.

use crate::Frame;
use core::fmt;
use satrap_sync::relax;

/// The sending end of a ring.
pub trait FrameSender {
    /// Puts a frame of 1 to 14 words into the ring; the receiver can take it from now on.
    ///
    /// The first word is a [`FrameHeader`](crate::FrameHeader), whose lowest byte the ring overwrites with
    /// the count of words. After sending, [`Doorbell::notify`].
    ///
    /// # Errors
    /// [`Full`] when the frame finds no room; nothing was sent then.
    ///
    /// # Panics
    /// If `frame` has no word or more than 14: a bug of the caller.
    fn send(&mut self, frame: &[u64]) -> Result<(), Full>;

    /// Whether frames are in the ring that the receiver has not yet declared consumed.
    fn has_unconsumed(&mut self) -> bool;
}

/// The receiving end of a ring.
pub trait FrameReceiver {
    /// Copies the next frame to `into` and returns true, if there is one. When there is none, everything taken
    /// is declared consumed, and `into` is as it was.
    ///
    /// # Errors
    /// [`Garbage`] when the producer broke the protocol. The ring stays where it is and says so again; the
    /// link must be reset, and `into` means nothing.
    fn receive(&mut self, into: &mut Frame) -> Result<bool, Garbage>;

    /// [`FrameReceiver::receive`] for those who do not mind a further copy.
    ///
    /// # Errors
    /// As there.
    fn take(&mut self) -> Result<Option<Frame>, Garbage> {
        let mut frame = Frame::default();
        Ok(self.receive(&mut frame)?.then_some(frame))
    }

    /// Whether nothing waits: one relaxed load, for polling many rings.
    fn is_empty(&self) -> bool;

    /// Whether a frame waits, or comes while this looks at most `turns` times: for a reader with nothing else
    /// to do. Tight, for what a slower loop would add is added to every message.
    #[inline]
    fn waits(&self, turns: u32) -> bool {
        for _ in 0..turns {
            if !self.is_empty() {
                return true;
            }
            relax();
        }
        !self.is_empty()
    }

    /// Declares everything taken consumed at once, so that a waiting sender finds the room.
    ///
    /// Without it the sender learns so after a quarter of the ring, or when `receive` finds it empty.
    fn acknowledge(&mut self);
}

/// Wakes the receiving satellite, if it needs waking.
pub trait Doorbell {
    /// To be called after sending, once for any number of frames: full fence, look at the peer's attention
    /// word, ring unless it polls.
    fn notify(&self);

    /// To be called when frames stay unconsumed for long: rings again, for a doorbell may be lost on its way.
    fn repeat(&self);
}

/// The ring has no room for the frame: wait until the receiver has consumed some.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Full;

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the ring is full")
    }
}

impl core::error::Error for Full {}

/// What a producer may not write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Garbage {
    /// A slot carries a sequence number that no correct producer gives it.
    Sequence {
        /// The sequence word whose turn it is.
        expected: u64,
        /// The sequence word seen.
        seen: u64,
    },
    /// A frame claims an impossible count of words.
    WordCount {
        /// The count seen; 1 to 14 are possible.
        seen: u8,
    },
}

impl fmt::Display for Garbage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Garbage::Sequence { expected, seen } => {
                write!(
                    f,
                    "slot with sequence {seen:#018x} where {expected:#018x} was due"
                )
            }
            Garbage::WordCount { seen } => write!(f, "frame of {seen} words; 1 to 14 are possible"),
        }
    }
}

impl core::error::Error for Garbage {}
