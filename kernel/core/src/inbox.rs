//! The receiving half of an endpoint: a ring of messages, and what its producer and consumer tell each other.
//!
//! The producer is the peer endpoint (local message passing) or the link's receiver (remote). The ring carries
//! tags and inline arguments; blocks and endpoints wait beside it, in the same order.

use crate::{
    event::Event,
    message::{Cargo, Message},
    pool::Pool,
};
use alloc::{boxed::Box, collections::VecDeque, sync::Arc};
use satrap_abi::Errno;
use satrap_link::{FrameReceiver, FrameSender, LocalReceiver, LocalSender, local_ring};
use satrap_sync::{AtomicU32, Ordering, SpinLock};

/// Slots of a channel's ring: `limits::CHANNEL_DEPTH` messages of the largest size.
const RING_SLOTS: usize = 2 * satrap_abi::limits::CHANNEL_DEPTH as usize;

/// What producer and consumer of a direction share.
pub(crate) struct Inbox {
    cargo: SpinLock<VecDeque<Box<Cargo>>>,
    /// Signalled when a message or the end has come.
    pub(crate) arrived: Event,
    /// Signalled when there is room again, or the consumer has gone.
    pub(crate) room: Event,
    /// Why no more messages come; 0 while they may.
    ended: AtomicU32,
    /// Why messages are no longer taken; 0 while they are.
    refused: AtomicU32,
    /// The producer's pool, once it has one.
    pub(crate) pool: SpinLock<Option<Arc<Pool>>>,
}

/// A direction: its producer, its consumer, and what they share.
pub(crate) type Direction = (LocalSender, LocalReceiver, Arc<Inbox>);

/// A new direction.
pub(crate) fn direction() -> Direction {
    over(RING_SLOTS)
}

/// A direction in which nothing comes and nothing is taken any more.
pub(crate) fn ended(reason: Errno) -> Direction {
    let direction = over(2);
    direction.2.end(reason);
    direction.2.refuse(reason);
    direction
}

fn over(slots: usize) -> Direction {
    let (sender, receiver) = local_ring(slots);
    let inbox = Inbox {
        cargo: SpinLock::default(),
        arrived: Event::default(),
        room: Event::default(),
        ended: AtomicU32::new(0),
        refused: AtomicU32::new(0),
        pool: SpinLock::new(None),
    };
    (sender, receiver, Arc::new(inbox))
}

impl Inbox {
    /// The producer: appends a message. On [`Errno::WouldBlock`] the message is untouched.
    #[inline]
    pub(crate) fn push(&self, ring: &mut LocalSender, message: &mut Message) -> Result<(), Errno> {
        if let Some(reason) = code(self.refused.load(Ordering::Acquire)) {
            return Err(reason);
        }
        if message.cargo.is_none() {
            ring.send(message.words()).map_err(|_| Errno::WouldBlock)?;
        } else {
            self.push_with_cargo(ring, message)?;
        }
        self.arrived.signal();
        Ok(())
    }

    fn push_with_cargo(&self, ring: &mut LocalSender, message: &mut Message) -> Result<(), Errno> {
        // The cargo must be there before the message that announces it.
        let mut waiting = self.cargo.lock();
        ring.send(message.words()).map_err(|_| Errno::WouldBlock)?;
        waiting.extend(message.cargo.take());
        Ok(())
    }

    /// The consumer: puts the next message into `into`, or learns why none will come.
    #[inline(always)]
    pub(crate) fn pop(&self, ring: &mut LocalReceiver, into: &mut Message) -> Result<(), Errno> {
        if self.next(ring, into)? {
            return Ok(());
        }
        let Some(reason) = code(self.ended.load(Ordering::Acquire)) else {
            return Err(Errno::WouldBlock);
        };
        // What was sent before the end is visible now, and comes first.
        if self.next(ring, into)? {
            Ok(())
        } else {
            Err(reason)
        }
    }

    /// Only this kernel writes such rings, so that garbage is a bug of ours: it ends the channel, not the
    /// kernel.
    #[inline(always)]
    fn next(&self, ring: &mut LocalReceiver, into: &mut Message) -> Result<bool, Errno> {
        if !ring.receive(into.frame_mut()).map_err(|_| Errno::Closed)? {
            return Ok(false);
        }
        into.cargo = match into.named_handles() {
            0 => None,
            _ => self.cargo.lock().pop_front(),
        };
        Ok(true)
    }

    /// The producer has gone, for `reason`.
    pub(crate) fn end(&self, reason: Errno) {
        // The first reason stands.
        let _ = self
            .ended
            .compare_exchange(0, reason as u32, Ordering::AcqRel, Ordering::Acquire);
        self.arrived.signal();
    }

    /// The consumer has gone, for `reason`.
    pub(crate) fn refuse(&self, reason: Errno) {
        let _ = self
            .refused
            .compare_exchange(0, reason as u32, Ordering::AcqRel, Ordering::Acquire);
        self.room.signal();
    }

    /// Whether no more messages will be appended.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire) != 0
    }
}

/// The error behind a stored code.
#[inline(always)]
pub(crate) fn code(stored: u32) -> Option<Errno> {
    if stored == 0 {
        None
    } else {
        Errno::from_result(-(stored as i32))
    }
}
