//! Shadow endpoints (Helios §3.6): what this satellite knows of a remote channel's other side.
//!
//! What arrives is checked against the contract before it reaches the inbox, for a peer's kernel may be faulty
//! (DESIGN §4); a violation is a fault of the link, not of the endpoint.

use super::frames::fault;
use crate::{
    event::Event,
    inbox::Inbox,
    link::{Arrival, Link, LinkFault},
    message::{Capability, Cargo, Message},
    pool::Pool,
};
use alloc::{boxed::Box, string::String, sync::Arc};
use once_cell::race::OnceBox;
use satrap_abi::{
    ChannelId, Errno,
    limits::{CHANNEL_DEPTH, HANDLES_MAX},
};
use satrap_link::LocalSender;
use satrap_sync::{AtomicU32, AtomicU64, Ordering, SpinLock};
use satrap_table::{HandleKind, Side, Table};

/// Bytes of blocks that a channel has under way before its sender waits. More would only push what was written
/// last out of the caches before the peer reads it (measured: 1 MiB blocks, 64 under way, half the bandwidth).
const WINDOW: u64 = 4 << 20;

/// A shadow endpoint: what this satellite knows of a channel's other side.
pub(crate) struct RemoteEnd {
    /// The link that it is over, once that is known; it never changes.
    pub(super) link: OnceBox<Arc<Link>>,
    /// The other side's [`ChannelId`], packed; 0 until it is known.
    pub(super) peer: AtomicU64,
    pub(super) contract: Arc<Table>,
    /// Which side the peer is.
    pub(super) sender: Side,
    /// The protocol's state after the last message that came or went.
    pub(super) state: AtomicU32,
    pub(super) ring: SpinLock<LocalSender>,
    pub(super) inbox: Arc<Inbox>,
    pub(super) cargo: SpinLock<Option<Box<Cargo>>>,
    /// Messages that were sent, counted by the endpoint that sends.
    pub(super) spent: AtomicU32,
    /// Messages that may be sent, counted by the link's receiver.
    pub(super) granted: AtomicU32,
    pub(super) room: Event,
    /// Bytes of blocks that the peer has not copied yet.
    pub(super) on_loan: AtomicU64,
    /// Why nothing more may be sent; 0 while it may.
    pub(super) refused: AtomicU32,
    /// The pool that this side announced to the peer.
    pub(super) pool: SpinLock<Option<Arc<Pool>>>,
    /// Set if the peer made the channel by sending its end here.
    pub(super) arrival: OnceBox<Arrival>,
}

impl RemoteEnd {
    #[inline]
    pub(super) fn is_over(&self, link: &Arc<Link>) -> bool {
        self.link.get().is_some_and(|own| Arc::ptr_eq(own, link))
    }

    /// The first frame says which link the channel is over, if that was not known yet.
    pub(super) fn adopt(&self, link: &Arc<Link>) -> bool {
        self.link.set(Box::new(link.clone())).is_ok()
    }

    /// The other side is known: messages may go out.
    ///
    /// # Errors
    /// The link over which frames for it came first: that peer guessed the id and spoke for another.
    pub(crate) fn connect(&self, peer: ChannelId, link: &Arc<Link>) -> Result<(), Arc<Link>> {
        self.adopt(link);
        if let Some(other) = self.link.get().filter(|own| !Arc::ptr_eq(own, link)) {
            return Err(other.clone());
        }
        self.peer.store(peer.0.pack(), Ordering::Release);
        self.room.signal();
        Ok(())
    }

    /// The channel is over.
    pub(crate) fn finish(&self, reason: Errno) {
        let _ = self
            .refused
            .compare_exchange(0, reason as u32, Ordering::AcqRel, Ordering::Acquire);
        self.inbox.end(reason);
        self.room.signal();
        drop(self.pool.lock().take());
        drop(self.cargo.lock().take());
    }

    /// Whether another block may go out now.
    pub(super) fn has_window(&self) -> bool {
        self.on_loan.load(Ordering::Acquire) < WINDOW
    }

    /// A block of so many bytes has gone out.
    pub(crate) fn lent(&self, bytes: u64) {
        self.on_loan.fetch_add(bytes, Ordering::AcqRel);
    }

    /// The peer has copied it.
    pub(crate) fn regained(&self, bytes: u64) {
        self.on_loan.fetch_sub(bytes, Ordering::AcqRel);
        self.room.signal();
    }

    pub(super) fn load(&self, position: u8, capability: Capability) -> Result<(), LinkFault> {
        let mut cargo = self.cargo.lock();
        match cargo.get_or_insert_default().get_mut(usize::from(position)) {
            Some(place) if place.is_none() => {
                *place = Some(capability);
                Ok(())
            }
            _ => fault("capability in a place that is taken or does not exist"),
        }
    }

    /// What a peer sends is checked like what a local endpoint sends; it is a fault of its kernel otherwise.
    #[inline]
    pub(super) fn admit(&self, message: &mut Message) -> Result<(), LinkFault> {
        let mut kinds = [HandleKind::Block; HANDLES_MAX];
        let count = message.kinds(&mut kinds);
        let state = self.state.load(Ordering::Relaxed) as u8;
        let inline = usize::from(message.inline_len());
        let buffer = message.buffer();
        let step = self.contract.step(
            state,
            self.sender,
            message.tag(),
            inline,
            &kinds[..count],
            buffer.is_some(),
        );
        let next =
            step.map_err(|violation| LinkFault(alloc::format!("message {}: {violation}", message.tag())))?;
        if let Some(buffer) = buffer {
            let pool = self.inbox.pool.lock();
            let arrived = pool
                .as_ref()
                .ok_or(Errno::Protocol)
                .and_then(|pool| pool.arrive(buffer.index, buffer.len));
            arrived.map_err(|_| LinkFault(String::from("pool buffer that the sender did not hold")))?;
        }
        self.state.store(u32::from(next), Ordering::Relaxed);
        message.leads_to(next);
        Ok(())
    }

    /// Puts an admitted message where its receiver will find it.
    #[inline(never)]
    pub(super) fn deliver(&self, message: &mut Message) -> Result<(), LinkFault> {
        match self.inbox.push(&mut self.ring.lock(), message) {
            Err(Errno::WouldBlock) => fault("more messages than credits"),
            // A consumer that has gone wants nothing; what travelled is dropped with the message.
            _ => Ok(()),
        }
    }

    pub(super) fn on_credit(&self, count: u64) -> Result<(), LinkFault> {
        let granted = self.granted.load(Ordering::Relaxed);
        let credits = granted.wrapping_sub(self.spent.load(Ordering::Relaxed));
        if u64::from(credits).saturating_add(count) > u64::from(CHANNEL_DEPTH) {
            return fault("more credits than messages");
        }
        self.granted
            .store(granted.wrapping_add(count as u32), Ordering::Release);
        self.room.signal();
        Ok(())
    }

    pub(super) fn on_buffer_returned(&self, index: u64) -> Result<(), LinkFault> {
        let pool = self.pool.lock();
        let returned = pool
            .as_ref()
            .ok_or(Errno::Invalid)
            .and_then(|pool| pool.returned(index as u32));
        returned.map_err(|_| LinkFault(String::from("return of a pool buffer that was not lent")))
    }
}
