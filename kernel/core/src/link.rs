//! The kernel's side of a link to one peer satellite: frames out, frames in, and the blocks that the peer has
//! been lent until it has copied them (Helios §3.6).

use crate::{heap::Block, message::Message, pool::Pool, rmp::RemoteEnd, slab::Slab};
use alloc::{boxed::Box, collections::VecDeque, string::String, sync::Arc};
use satrap_abi::{KernelId, Slot};
use satrap_link::{Doorbell, FrameReceiver, FrameSender};
use satrap_region::Region;
use satrap_sync::{AtomicBool, AtomicU32, AtomicU64, Ordering, SpinLock};

/// Frames that wait for room in the ring. Credits bound the messages among them; this bounds the rest.
const BACKLOG_MAX: usize = 1 << 16;
/// How soon to look again whether the ring has room for the backlog, in ns.
const BACKLOG_PATIENCE: u64 = 100_000;
/// Blocks and pools that one peer may hold on loan.
const LOANS_MAX: u32 = 1 << 16;

/// What a platform supplies for a link.
pub struct LinkParts {
    /// The peer.
    pub kernel: KernelId,
    /// Its generation.
    pub generation: u32,
    /// Frames to it.
    pub sender: Box<dyn FrameSender + Send>,
    /// Frames from it.
    pub receiver: Box<dyn FrameReceiver + Send>,
    /// Its doorbell.
    pub doorbell: Box<dyn Doorbell + Send + Sync>,
    /// Its exchange heap, to be read only.
    pub heap: Region,
}

/// Channels that one peer may have made here by sending endpoints: as many handles as a process has by default.
/// Each costs some KiB, and brings up to 64 messages with further ones.
pub(crate) const ARRIVALS_MAX: u32 = 4096;

/// A link to one peer.
pub(crate) struct Link {
    pub(crate) kernel: KernelId,
    pub(crate) generation: u32,
    outbound: SpinLock<Outbound>,
    /// Whether frames wait for room in the ring.
    backlogged: AtomicBool,
    inbound: SpinLock<Inbound>,
    doorbell: Box<dyn Doorbell + Send + Sync>,
    pub(crate) heap: Region,
    dead: AtomicBool,
    /// The peer keeps more of what it was lent than any correct one needs.
    overdrawn: AtomicBool,
    loans: SpinLock<Slab<Loan>>,
    /// How many [`Arrival`]s there are.
    arrivals: AtomicU32,
    /// When an unanswered doorbell is rung again; `u64::MAX` when none is due.
    ring_again: AtomicU64,
}

/// What a peer may read in this satellite's exchange heap.
pub(crate) enum Loan {
    /// A block, until the peer has copied it; the channel on which it went is told then.
    Block { _lent: Lent },
    /// A pool, until the peer's consumer has unmapped it.
    Pool { _pool: Arc<Pool> },
}

/// A block on loan. Dropping it makes room in the channel's window.
pub(crate) struct Lent {
    block: Block,
    sender: Arc<RemoteEnd>,
}

impl Lent {
    pub(crate) fn new(block: Block, sender: Arc<RemoteEnd>) -> Lent {
        sender.lent(block.footprint());
        Lent { block, sender }
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.sender.regained(self.block.footprint());
    }
}

/// Frames come in here, one after another.
struct Inbound {
    ring: Box<dyn FrameReceiver + Send>,
    /// Where a frame is put; most are messages.
    message: Message,
    recent: Option<Recent>,
}

/// The shadow endpoint that the last message was for: the next is likely to be for it too, and finds it
/// without a lock.
pub(crate) struct Recent {
    pub(crate) id: u64,
    pub(crate) end: Arc<RemoteEnd>,
    /// How many shadow endpoints had been removed when it was found. After another it is looked up again.
    pub(crate) removals: u64,
}

struct Outbound {
    ring: Box<dyn FrameSender + Send>,
    backlog: VecDeque<([u64; 14], usize)>,
}

/// A channel that the peer made by sending its end here. Dropping it makes room for another.
pub(crate) struct Arrival(Arc<Link>);

impl Drop for Arrival {
    fn drop(&mut self) {
        self.0.arrivals.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Why a link was reset.
pub(crate) struct LinkFault(pub(crate) String);

impl Link {
    pub(crate) fn new(parts: LinkParts) -> Link {
        Link {
            kernel: parts.kernel,
            generation: parts.generation,
            outbound: SpinLock::new(Outbound {
                ring: parts.sender,
                backlog: VecDeque::new(),
            }),
            backlogged: AtomicBool::new(false),
            inbound: SpinLock::new(Inbound {
                ring: parts.receiver,
                message: Message::default(),
                recent: None,
            }),
            doorbell: parts.doorbell,
            heap: parts.heap,
            dead: AtomicBool::new(false),
            overdrawn: AtomicBool::new(false),
            loans: SpinLock::new(Slab::new(LOANS_MAX)),
            arrivals: AtomicU32::new(0),
            ring_again: AtomicU64::new(u64::MAX),
        }
    }

    /// Whether the peer is gone.
    #[inline]
    pub(crate) fn is_dead(&self) -> bool {
        self.dead.load(Ordering::Acquire)
    }

    /// The peer is gone: nothing more goes out or comes in, and what it had on loan is free.
    pub(crate) fn kill(&self) {
        self.dead.store(true, Ordering::Release);
        self.outbound.lock().backlog.clear();
        let loans = self.loans.lock().drain_where(|_| true);
        drop(loans);
        let recent = self.inbound.lock().recent.take();
        drop(recent);
    }

    /// Sends frames in one piece: no other sender's come between them.
    pub(crate) fn post(&self, frames: &[&[u64]]) {
        if self.is_dead() {
            return;
        }
        let mut outbound = self.outbound.lock();
        for frame in frames {
            outbound.append(frame);
        }
        if !outbound.backlog.is_empty() {
            self.backlogged.store(true, Ordering::Relaxed);
        }
        drop(outbound);
        self.doorbell.notify();
    }

    /// Moves what waited for room into the ring. Returns whether anything still waits.
    #[inline]
    pub(crate) fn flush(&self) -> bool {
        self.backlogged.load(Ordering::Relaxed) && self.flush_backlog()
    }

    #[cold]
    fn flush_backlog(&self) -> bool {
        let Some(mut outbound) = self.outbound.try_lock() else {
            return true;
        };
        let moved = outbound.flush();
        let waits = !outbound.backlog.is_empty();
        self.backlogged.store(waits, Ordering::Relaxed);
        drop(outbound);
        if moved {
            self.doorbell.notify();
        }
        waits
    }

    /// Rings again if the peer has not looked for `patience` ns: a doorbell may be lost. Returns when to ask
    /// again, if anything is unanswered.
    pub(crate) fn insist(&self, now: u64, patience: u64) -> Option<u64> {
        let mut outbound = self.outbound.lock();
        if self.is_dead() || !outbound.ring.has_unconsumed() {
            self.ring_again.store(u64::MAX, Ordering::Relaxed);
            return None;
        }
        if !outbound.backlog.is_empty() {
            return Some(now + BACKLOG_PATIENCE);
        }
        drop(outbound);
        let due = self.ring_again.load(Ordering::Relaxed);
        if due == u64::MAX {
            self.ring_again.store(now + patience, Ordering::Relaxed);
            return Some(now + patience);
        }
        if now >= due {
            self.doorbell.repeat();
            self.ring_again.store(now + patience, Ordering::Relaxed);
            return Some(now + patience);
        }
        Some(due)
    }

    /// Takes what has come, or comes while this looks at most `turns` times, unless another CPU is at it.
    /// `removals` is how many shadow endpoints have been removed by now.
    pub(crate) fn take(
        &self,
        turns: u32,
        removals: u64,
        mut each: impl FnMut(&mut Message, &mut Option<Recent>) -> Result<(), LinkFault>,
    ) -> Result<bool, LinkFault> {
        let Some(mut inbound) = self.inbound.try_lock() else {
            return Ok(false);
        };
        let Inbound {
            ring,
            message,
            recent,
        } = &mut *inbound;
        if !ring.waits(turns) || self.is_dead() {
            ring.acknowledge();
            // Nobody else would let go of it, were no message to come any more.
            recent.take_if(|recent| recent.removals != removals);
            return Ok(false);
        }
        for _ in 0..BATCH {
            match ring.receive(message.frame_mut()) {
                Ok(true) => each(message, recent)?,
                Ok(false) => break,
                Err(garbage) => return Err(LinkFault(alloc::format!("{garbage}"))),
            }
        }
        Ok(true)
    }

    /// Whether a frame waits that no other CPU is at.
    pub(crate) fn has_frames(&self) -> bool {
        self.inbound
            .try_lock()
            .is_some_and(|inbound| !inbound.ring.is_empty())
    }

    /// Whether a frame waits, for one who will not look again: another CPU that is at it may have looked just
    /// before the frame came.
    pub(crate) fn has_frames_left(&self) -> bool {
        !self.inbound.lock().ring.is_empty()
    }

    /// Counts a channel that the peer makes by sending its end here; `None` if there are too many.
    pub(crate) fn arrival(self: &Arc<Link>) -> Option<Arrival> {
        let before = self.arrivals.fetch_add(1, Ordering::Relaxed);
        let arrival = Arrival(self.clone());
        (before < ARRIVALS_MAX).then_some(arrival)
    }

    /// Lends memory to the peer until it says that it is done with it. If it has too much already, the link is
    /// reset when it is looked at next: channels over it cannot go on.
    pub(crate) fn lend(&self, loan: Loan) -> Result<Slot, Loan> {
        let lent = self.loans.lock().insert(loan);
        if lent.is_err() {
            self.overdrawn.store(true, Ordering::Relaxed);
        }
        lent
    }

    /// Whether the peer keeps what it was lent.
    #[inline]
    pub(crate) fn is_overdrawn(&self) -> bool {
        self.overdrawn.load(Ordering::Relaxed)
    }

    /// The peer has copied a block, or has unmapped a pool.
    pub(crate) fn loan_returned(&self, slot: Slot) {
        let loan = self.loans.lock().remove(slot);
        drop(loan);
    }
}

/// At most this many frames at a time, so that processes run in between.
const BATCH: usize = 64;

impl Outbound {
    fn append(&mut self, frame: &[u64]) {
        if self.backlog.is_empty() && self.ring.send(frame).is_ok() {
            return;
        }
        if self.backlog.len() < BACKLOG_MAX {
            let mut words = [0; 14];
            words[..frame.len()].copy_from_slice(frame);
            self.backlog.push_back((words, frame.len()));
        }
    }

    fn flush(&mut self) -> bool {
        let mut moved = false;
        while let Some((words, len)) = self.backlog.front() {
            if self.ring.send(&words[..*len]).is_err() {
                break;
            }
            self.backlog.pop_front();
            moved = true;
        }
        moved
    }
}
