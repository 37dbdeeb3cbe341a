//! The doorbell protocol: who must be woken, and by whom, so that no wake-up is lost and no bell is rung
//! for nothing (DESIGN §3 "Idle").
//!
//! Neighbours: `transport.rs` has the trait of doorbells; `export.rs` places the word.
//!
//! # Protocol
//!
//! Each satellite has one *attention word*, in its own export, that it alone writes and its peers read.
//!
//! - Receiver: set `Parked` (which ends with a full fence), look once more at every ring, park. When woken or
//!   interrupted: empty the bell, set the word again even if to the same state, then look at every ring.
//! - Sender: publish the frames, full fence, read the word; ring unless it says `Polling`.
//!
//! The two fences exclude that the sender still reads `Polling` and the receiver yet finds the ring empty:
//! whichever fence comes second sees what preceded the other. A bell is sticky (an eventfd, a pending
//! interrupt): rung before the receiver parks, it ends the park at once.
//!
//! The word also counts how often it was set, so that a sender rings once for each setting and not once for
//! each message: until the word is set again, the first ring is still on its way, and whoever answers it will
//! look at the rings after the fence.

use crate::{Doorbell, Memory};
use satrap_sync::{AtomicU64, Ordering::Relaxed, Ordering::SeqCst, fence};

/// What a satellite is doing about its inbound rings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Attention {
    /// It looks at them all the time: no need to ring.
    Polling = 0,
    /// It sleeps: wake it.
    Parked = 1,
    /// It runs processes and looks when one of them lets it: interrupt it.
    Busy = 2,
}

const STATE_BITS: u32 = 2;
/// Where the word stands in its line.
const WORD: (usize, usize) = (0, 0);

/// A satellite's handle on its own attention word.
pub struct OwnAttention<M> {
    line: M,
    changes: AtomicU64,
}

impl<M: Memory> OwnAttention<M> {
    /// Over the first of `line`'s lines, which nobody else writes. Begins as [`Attention::Busy`].
    pub fn new(line: M) -> OwnAttention<M> {
        let own = OwnAttention {
            line,
            changes: AtomicU64::new(0),
        };
        own.set(Attention::Busy);
        own
    }

    /// Says what the satellite does from now on; ends with a full fence, so that the look at the rings that
    /// follows misses nothing that a sender published without ringing.
    ///
    /// Several CPUs may call it; the last one counts, and that the word is true of all of them is up to the
    /// kernel.
    #[inline]
    pub fn set(&self, attention: Attention) {
        let change = self.changes.fetch_add(1, Relaxed) + 1;
        let (line, word) = WORD;
        self.line
            .store(line, word, change << STATE_BITS | attention as u64, Relaxed);
        self.line.publish(line);
        // SYNC POINT attention-set: pairs with attention-look.
        fence(SeqCst);
    }
}

/// A sender's view of its peer's attention word.
pub struct PeerAttention<M> {
    line: M,
    /// The word for which the bell was rung last.
    rung: AtomicU64,
}

impl<M: Memory> PeerAttention<M> {
    /// Over the first of `line`'s lines, which the peer alone writes.
    pub fn new(line: M) -> PeerAttention<M> {
        PeerAttention {
            line,
            rung: AtomicU64::new(0),
        }
    }

    /// After publishing: whether a bell must be rung, and for what. `Some` once for each setting of the word.
    #[inline]
    pub fn look(&self) -> Option<Attention> {
        // SYNC POINT attention-look: pairs with attention-set.
        fence(SeqCst);
        let (line, word) = WORD;
        self.line.refresh(line);
        let seen = self.line.load(line, word, Relaxed);
        match seen & ((1 << STATE_BITS) - 1) {
            0 => None,
            _ if self.rung.load(Relaxed) == seen || self.rung.swap(seen, Relaxed) == seen => None,
            2 => Some(Attention::Busy),
            // No correct peer writes 3: ring as if it slept, which harms nobody.
            _ => Some(Attention::Parked),
        }
    }

    /// The bell may have been lost: the next look rings again for the same setting.
    pub fn forget(&self) {
        self.rung.store(0, Relaxed);
    }
}

/// The two ways to get a satellite's attention: eventfds, inter-processor interrupts, MSI-X. Sticky.
pub trait Bell {
    /// Ends the peer's park, or its next one.
    fn wake(&self);

    /// Makes a busy peer look at its rings soon: interrupts the process that it runs.
    fn interrupt(&self);
}

/// The doorbell made of a peer's attention word and a bell.
pub struct AttentionDoorbell<M, B> {
    peer: PeerAttention<M>,
    bell: B,
}

impl<M: Memory, B: Bell> AttentionDoorbell<M, B> {
    /// Rings `bell` when `peer` wants it.
    pub fn new(peer: PeerAttention<M>, bell: B) -> AttentionDoorbell<M, B> {
        AttentionDoorbell { peer, bell }
    }

    /// The bell.
    pub fn bell(&self) -> &B {
        &self.bell
    }
}

impl<M: Memory, B: Bell> Doorbell for AttentionDoorbell<M, B> {
    #[inline]
    fn notify(&self) {
        match self.peer.look() {
            None | Some(Attention::Polling) => {}
            Some(Attention::Parked) => self.bell.wake(),
            Some(Attention::Busy) => self.bell.interrupt(),
        }
    }

    fn repeat(&self) {
        self.peer.forget();
        self.notify();
    }
}
