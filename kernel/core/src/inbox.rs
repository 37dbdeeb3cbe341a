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
use satrap_link::{FrameSender, LocalReceiver, LocalSender, local_ring};
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

/// A new direction: its producer, its consumer, and what they share.
pub(crate) fn direction() -> (LocalSender, LocalReceiver, Arc<Inbox>) {
    let (sender, receiver) = local_ring(RING_SLOTS);
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
    pub(crate) fn push(&self, ring: &mut LocalSender, message: &mut Message) -> Result<(), Errno> {
        if let Some(reason) = code(self.refused.load(Ordering::Acquire)) {
            return Err(reason);
        }
        let mut words = [0; 14];
        let len = message.encode(0, &[], &mut words);
        match message.cargo.take() {
            None => ring.send(&words[..len]).map_err(|_| Errno::WouldBlock)?,
            Some(cargo) => {
                // The cargo must be there before the message that announces it.
                let mut waiting = self.cargo.lock();
                if ring.send(&words[..len]).is_err() {
                    message.cargo = Some(cargo);
                    return Err(Errno::WouldBlock);
                }
                waiting.push_back(cargo);
            }
        }
        self.arrived.signal();
        Ok(())
    }

    /// The consumer: takes the next message, or learns why none will come.
    pub(crate) fn pop(&self, ring: &mut LocalReceiver) -> Result<Message, Errno> {
        if let Some(message) = self.next(ring)? {
            return Ok(message);
        }
        let Some(reason) = code(self.ended.load(Ordering::Acquire)) else {
            return Err(Errno::WouldBlock);
        };
        // What was sent before the end is visible now, and comes first.
        self.next(ring)?.ok_or(reason)
    }

    fn next(&self, ring: &mut LocalReceiver) -> Result<Option<Message>, Errno> {
        let Some((mut message, handles)) = Message::take(ring).map_err(|_| Errno::Closed)? else {
            return Ok(None);
        };
        if handles > 0 {
            message.cargo = self.cargo.lock().pop_front();
        }
        Ok(Some(message))
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
pub(crate) fn code(stored: u32) -> Option<Errno> {
    if stored == 0 {
        None
    } else {
        Errno::from_result(-(stored as i32))
    }
}
