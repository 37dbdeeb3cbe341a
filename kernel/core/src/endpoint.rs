//! One end of a channel: the contract's state, what comes in, and the way out.
//!
//! An endpoint has one owner. The contract is enforced here, before a message leaves (DESIGN §5): a guest that
//! breaks the protocol gets an error and its peer never sees the message. Whether the way out leads to an
//! endpoint of this satellite or to a shadow endpoint (Helios §3.6) is known to [`Route`] alone.

use crate::{
    event::Event,
    inbox::{Inbox, direction},
    message::Message,
    pool::Pool,
    rmp::{RemoteEnd, RemoteRoute},
};
use alloc::{boxed::Box, string::String, sync::Arc};
use core::{future::poll_fn, task::Poll, task::Waker};
use satrap_abi::{Errno, control::ChannelStats, limits::HANDLES_MAX};
use satrap_link::{FrameReceiver, LocalReceiver, LocalSender};
use satrap_table::{HandleKind, Side, Table};

/// Messages that a consumer takes before it tells the producer of the room.
const ACKNOWLEDGE_EVERY: u32 = 16;

/// One end of a channel.
pub struct Endpoint {
    contract: Arc<Table>,
    side: Side,
    state: u8,
    unacknowledged: u32,
    inbox: Arc<Inbox>,
    ring: LocalReceiver,
    route: Route,
    /// A message taken from the ring that could not be handed over yet.
    stash: Option<Box<Message>>,
    /// The pool from which this end sends.
    pool: Option<Arc<Pool>>,
    /// What the owner's figures say about it; `name` is how the owner got it.
    pub(crate) stats: ChannelStats,
}

/// The way out of an endpoint.
pub(crate) enum Route {
    /// To an endpoint of this satellite: a descriptor moves (local message passing).
    Local { ring: LocalSender, peer: Arc<Inbox> },
    /// To a shadow endpoint (remote message passing).
    Remote(RemoteRoute),
}

/// A channel within this satellite: the client's end and the service's.
pub fn channel(contract: &Arc<Table>) -> (Box<Endpoint>, Box<Endpoint>) {
    let (to_client, at_client, client) = direction();
    let (to_service, at_service, service) = direction();
    let client_route = Route::Local {
        ring: to_service,
        peer: service.clone(),
    };
    let service_route = Route::Local {
        ring: to_client,
        peer: client.clone(),
    };
    (
        Endpoint::new(
            contract.clone(),
            Side::Client,
            Table::START,
            (at_client, client),
            client_route,
        ),
        Endpoint::new(
            contract.clone(),
            Side::Service,
            Table::START,
            (at_service, service),
            service_route,
        ),
    )
}

impl Endpoint {
    pub(crate) fn new(
        contract: Arc<Table>,
        side: Side,
        state: u8,
        (ring, inbox): (LocalReceiver, Arc<Inbox>),
        route: Route,
    ) -> Box<Endpoint> {
        let stats = ChannelStats::default();
        let (unacknowledged, stash, pool) = (0, None, None);
        Box::new(Endpoint {
            contract,
            side,
            state,
            unacknowledged,
            inbox,
            ring,
            route,
            stash,
            pool,
            stats,
        })
    }

    /// The contract.
    pub(crate) fn contract(&self) -> &Arc<Table> {
        &self.contract
    }

    /// Which side this is.
    pub(crate) fn side(&self) -> Side {
        self.side
    }

    /// The protocol's state as this side knows it.
    pub(crate) fn state(&self) -> u8 {
        self.state
    }

    /// Gives it the name under which its owner's figures show it.
    pub fn named(mut self: Box<Self>, name: &str) -> Box<Self> {
        self.stats.name = String::from(name);
        self
    }

    /// Sends a message if there is room. On [`Errno::WouldBlock`] and every other error the message stays
    /// whole in the caller's hand.
    ///
    /// # Errors
    /// [`Errno::Protocol`] when the contract forbids it now, [`Errno::Closed`] and its kin when nobody will
    /// receive it, [`Errno::Invalid`] for a pool buffer that the caller does not hold.
    pub fn try_send(&mut self, message: &mut Message) -> Result<(), Errno> {
        let next = self.step(message)?;
        let buffer = message.buffer();
        if let Some(buffer) = buffer {
            self.pool
                .as_ref()
                .ok_or(Errno::Invalid)?
                .send(buffer.index, buffer.len)?;
        }
        let payload = message.payload();
        let sent = match &mut self.route {
            Route::Local { ring, peer } => {
                message.leads_to(next);
                peer.push(ring, message)
            }
            Route::Remote(remote) => remote.send(message, next),
        };
        if let Err(errno) = sent {
            if let (Some(buffer), Some(pool)) = (buffer, &self.pool) {
                pool.keep(buffer.index);
            }
            return Err(errno);
        }
        self.state = next;
        self.stats.sent += 1;
        self.stats.bytes_sent += payload;
        Ok(())
    }

    /// Takes the next message.
    ///
    /// # Errors
    /// [`Errno::WouldBlock`] when there is none yet; the reason of the end when there will be none.
    pub fn try_recv(&mut self) -> Result<Message, Errno> {
        let mut message = Message::default();
        self.receive(&mut message)?;
        Ok(message)
    }

    /// As [`Endpoint::try_recv`], into a place of the caller's. On an error the place means nothing.
    ///
    /// # Errors
    /// As there.
    #[inline(always)]
    pub(crate) fn receive(&mut self, into: &mut Message) -> Result<(), Errno> {
        if let Some(stashed) = self.stash.take() {
            *into = *stashed;
            return Ok(());
        }
        self.inbox.pop(&mut self.ring, into)?;
        self.take_in(into)
    }

    /// Whether what comes for the shadow endpoint `end` comes for this endpoint, and nothing waits before it.
    #[inline]
    pub(crate) fn is_next_of(&self, end: &RemoteEnd) -> bool {
        let own = matches!(&self.route, Route::Remote(remote) if remote.is_over(end));
        own && self.stash.is_none() && self.ring.is_empty()
    }

    /// A message is received. It was checked against the contract where it was sent, or where it came in.
    #[inline(always)]
    pub(crate) fn take_in(&mut self, message: &Message) -> Result<(), Errno> {
        self.state = message.state();
        if let Some(buffer) = message.buffer()
            && let Some(pool) = &*self.inbox.pool.lock()
        {
            pool.receive(buffer.index)?;
        }
        self.stats.received += 1;
        self.stats.bytes_received += message.payload();
        self.unacknowledged += 1;
        if self.unacknowledged >= ACKNOWLEDGE_EVERY {
            self.acknowledge();
        }
        Ok(())
    }

    /// Puts a message back that could not be handed over; the next `try_recv` gives it again.
    #[cold]
    pub(crate) fn put_back(&mut self, message: &mut Message) {
        self.stash = Some(Box::new(core::mem::take(message)));
    }

    #[inline(always)]
    fn step(&self, message: &Message) -> Result<u8, Errno> {
        let mut kinds = [HandleKind::Block; HANDLES_MAX];
        let count = message.kinds(&mut kinds);
        let inline = usize::from(message.inline_len());
        let (tag, buffer) = (message.tag(), message.has_buffer());
        self.contract
            .step(self.state, self.side, tag, inline, &kinds[..count], buffer)
            .map_err(|_| Errno::Protocol)
    }

    /// Tells the producer of the room that was made.
    fn acknowledge(&mut self) {
        let count = core::mem::take(&mut self.unacknowledged);
        if count == 0 {
            return;
        }
        self.ring.acknowledge();
        match &self.route {
            Route::Local { .. } => self.inbox.room.signal(),
            Route::Remote(remote) => remote.credit(count),
        }
    }

    /// Whether a `try_recv` would give a message or the end.
    #[inline]
    pub fn is_ready(&self) -> bool {
        self.stash.is_some() || !self.ring.is_empty() || self.inbox.has_ended()
    }

    /// Whether this side may send in the present state.
    pub(crate) fn may_send(&self) -> bool {
        self.contract.may_send(self.state, self.side)
    }

    /// What is signalled when a message or the end arrives.
    pub(crate) fn arrived(&self) -> &Event {
        &self.inbox.arrived
    }

    /// What is signalled when there is room again.
    pub(crate) fn room(&self) -> &Event {
        match &self.route {
            Route::Local { peer, .. } => &peer.room,
            Route::Remote(remote) => remote.room(),
        }
    }

    /// The pool from which this end sends.
    pub(crate) fn pool_out(&self) -> Option<&Arc<Pool>> {
        self.pool.as_ref()
    }

    /// The pool from which this end receives.
    pub(crate) fn pool_in(&self) -> Option<Arc<Pool>> {
        self.inbox.pool.lock().clone()
    }

    /// Gives this end a pool to send from. One for each end.
    pub(crate) fn set_pool(&mut self, pool: Arc<Pool>) -> Result<(), Errno> {
        if self.pool.is_some() {
            return Err(Errno::LimitReached);
        }
        match &mut self.route {
            Route::Local { peer, .. } => *peer.pool.lock() = Some(pool.clone()),
            Route::Remote(remote) => remote.announce_pool(&pool)?,
        }
        self.pool = Some(pool);
        Ok(())
    }

    /// The consumer is done with a buffer.
    pub(crate) fn release_buffer(&self, index: u32) -> Result<(), Errno> {
        let guard = self.inbox.pool.lock();
        let pool = guard.as_ref().ok_or(Errno::Invalid)?;
        pool.release(index)?;
        match &self.route {
            Route::Local { .. } => pool.freed.signal(),
            Route::Remote(remote) => remote.return_buffer(index),
        }
        Ok(())
    }

    /// Whether it may travel to another process: one with a pool may not, for the pool is mapped; nor one with a
    /// message that its owner has yet to take, for the contract's state is after that.
    pub(crate) fn may_move(&self) -> bool {
        self.stash.is_none() && self.pool.is_none() && self.inbox.pool.lock().is_none()
    }

    /// It goes to another owner: whoever waits on it here must look again.
    pub(crate) fn hand_over(&self) {
        self.inbox.arrived.hand_over();
        self.room().hand_over();
    }

    /// Whether the peer is on another satellite.
    pub(crate) fn is_remote(&self) -> bool {
        matches!(self.route, Route::Remote(_))
    }

    /// The peer's kernel, if the channel is remote.
    pub(crate) fn remote_kernel(&self) -> Option<u16> {
        match &self.route {
            Route::Local { .. } => None,
            Route::Remote(remote) => Some(remote.kernel()),
        }
    }

    /// Closes it and tells the peer why.
    pub fn close(mut self: Box<Self>, reason: Errno) {
        self.end(reason);
    }

    fn end(&mut self, reason: Errno) {
        // The peer may hold what this side waited on for long; its waiters must not stay with it.
        self.inbox.arrived.clear();
        self.room().clear();
        if let Some(pool) = &self.pool {
            pool.freed.clear();
        }
        self.inbox.refuse(reason);
        match &mut self.route {
            Route::Local { peer, .. } => peer.end(reason),
            Route::Remote(remote) => remote.close(reason),
        }
    }

    /// Sends, waiting for room.
    pub async fn send(&mut self, mut message: Message) -> Result<(), Errno> {
        poll_fn(|context| self.poll_send(&mut message, context.waker())).await
    }

    /// Receives, waiting for a message.
    pub async fn recv(&mut self) -> Result<Message, Errno> {
        poll_fn(|context| self.poll_recv(context.waker())).await
    }

    pub(crate) fn poll_send(&mut self, message: &mut Message, waker: &Waker) -> Poll<Result<(), Errno>> {
        match self.try_send(message) {
            Err(Errno::WouldBlock) => {}
            done => return Poll::Ready(done),
        }
        self.room().announce(waker);
        match self.try_send(message) {
            Err(Errno::WouldBlock) => Poll::Pending,
            done => Poll::Ready(done),
        }
    }

    /// Receives, or leaves the waker: for a driver that waits for something else besides. Whoever waits while
    /// its own side must send learns in this way of the peer's end.
    ///
    /// # Errors
    /// As [`Endpoint::try_recv`].
    pub fn poll_recv(&mut self, waker: &Waker) -> Poll<Result<Message, Errno>> {
        match self.try_recv() {
            Err(Errno::WouldBlock) => {}
            done => return Poll::Ready(done),
        }
        self.arrived().announce(waker);
        match self.try_recv() {
            Err(Errno::WouldBlock) => Poll::Pending,
            done => Poll::Ready(done),
        }
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.end(Errno::Closed);
    }
}
