//! Remote message passing (Helios §3.6): shadow endpoints, credits, and blocks copied once, heap to heap.
//!
//! A channel between satellites has a [`RemoteEnd`] on each: the shadow of the other side's endpoint. Sending
//! posts frames on the link; arriving frames are validated once and pushed into the endpoint's inbox, as a
//! local peer would. Frames name the receiver's `RemoteEnd` by an id with a generation, so that one for a
//! closed channel finds nothing.

use crate::{
    endpoint::{Endpoint, Route},
    event::Event,
    heap::ExchangeHeap,
    inbox::{Inbox, code, direction},
    link::{Link, LinkFault, LinkParts, Loan},
    message::{Capability, Cargo, Message},
    pool::Pool,
    relay,
    slab::Slab,
};
use alloc::{boxed::Box, collections::BTreeMap, string::String, sync::Arc, vec::Vec};
use core::{future::Future, pin::Pin};
use satrap_abi::{
    ChannelId, Digest, Errno, KernelId, Slot,
    limits::{BLOCK_MAX, CHANNEL_DEPTH, HANDLES_MAX},
};
use satrap_link::{FrameHeader, LocalSender};
use satrap_sync::{AtomicU32, AtomicU64, Ordering, SpinLock};
use satrap_table::{HandleKind, Side, Table};

pub(crate) use crate::foreign::{ForeignBlock, ForeignLoan};

/// Most remote channels of one satellite.
const ENDS_MAX: u32 = 1 << 20;

/// Kinds of frames. A capability's frame comes before the message that it belongs to.
pub(crate) mod kind {
    pub(crate) const MESSAGE: u8 = 1;
    pub(crate) const BLOCK: u8 = 2;
    pub(crate) const ENDPOINT: u8 = 3;
    pub(crate) const OPENED: u8 = 4;
    pub(crate) const LOAN_RETURNED: u8 = 5;
    pub(crate) const CREDIT: u8 = 6;
    pub(crate) const CLOSE: u8 = 7;
    pub(crate) const POOL: u8 = 8;
    pub(crate) const BUFFER_RETURNED: u8 = 9;
}

/// A frame's header word; `position` is the place of a capability among its message's.
pub(crate) fn header(kind: u8, tag: u16, position: u8) -> u64 {
    FrameHeader {
        kind,
        tag,
        inline_len: 0,
        handle_count: position,
        flags: 0,
    }
    .pack()
}

/// A list of links that is replaced as a whole, so that whoever polls holds it without a copy.
pub(crate) type Links = Arc<[Arc<Link>]>;

/// Runs a kernel task.
pub(crate) type Spawner = dyn Fn(Pin<Box<dyn Future<Output = ()> + Send>>) + Send + Sync;

/// Everything that remote message passing of one satellite shares.
pub(crate) struct Rmp {
    /// Its exchange heap.
    pub(crate) heap: Arc<ExchangeHeap>,
    ends: SpinLock<Slab<Arc<RemoteEnd>>>,
    contracts: SpinLock<BTreeMap<Digest, Arc<Table>>>,
    links: SpinLock<Links>,
    /// Grows with every change of `links`, so that CPUs may cache them.
    links_version: AtomicU64,
    spawner: SpinLock<Option<Arc<Spawner>>>,
}

/// A shadow endpoint: what this satellite knows of a channel's other side.
pub(crate) struct RemoteEnd {
    link: SpinLock<Option<Arc<Link>>>,
    /// The other side's [`ChannelId`], packed; 0 until it is known.
    peer: AtomicU64,
    contract: Arc<Table>,
    /// Which side the peer is.
    sender: Side,
    /// The protocol's state after the last message that came or went.
    state: AtomicU32,
    ring: SpinLock<LocalSender>,
    inbox: Arc<Inbox>,
    cargo: SpinLock<Option<Box<Cargo>>>,
    /// Messages that may be sent before the peer has taken some.
    credits: AtomicU32,
    room: Event,
    /// Why nothing more may be sent; 0 while it may.
    refused: AtomicU32,
    /// The pool that this side announced to the peer.
    pool: SpinLock<Option<Arc<Pool>>>,
}

impl Rmp {
    pub(crate) fn new(heap: Arc<ExchangeHeap>) -> Arc<Rmp> {
        Arc::new(Rmp {
            heap,
            ends: SpinLock::new(Slab::new(ENDS_MAX)),
            contracts: SpinLock::default(),
            links: SpinLock::default(),
            links_version: AtomicU64::new(0),
            spawner: SpinLock::new(None),
        })
    }

    /// Says how kernel tasks are run.
    pub(crate) fn set_spawner(&self, spawner: Arc<Spawner>) {
        *self.spawner.lock() = Some(spawner);
    }

    /// Makes a contract known, so that endpoints under it can arrive.
    pub(crate) fn learn(&self, table: Table) -> Arc<Table> {
        self.contracts
            .lock()
            .entry(table.digest())
            .or_insert_with(|| Arc::new(table))
            .clone()
    }

    /// The contract with this digest, if a loaded program has brought it.
    pub(crate) fn contract(&self, digest: &Digest) -> Option<Arc<Table>> {
        self.contracts.lock().get(digest).cloned()
    }

    /// The links, and the version of the list.
    pub(crate) fn links(&self) -> (u64, Links) {
        let links = self.links.lock();
        (self.links_version.load(Ordering::Acquire), links.clone())
    }

    /// The version of the list of links.
    #[inline]
    pub(crate) fn links_version(&self) -> u64 {
        self.links_version.load(Ordering::Acquire)
    }

    /// The link to a peer of this generation.
    pub(crate) fn link(&self, kernel: KernelId, generation: u32) -> Option<Arc<Link>> {
        let links = self.links.lock();
        links
            .iter()
            .find(|link| link.kernel == kernel && link.generation == generation)
            .cloned()
    }

    /// A peer has come.
    pub(crate) fn link_up(&self, parts: LinkParts) {
        let mut links = self.links.lock();
        *links = links
            .iter()
            .cloned()
            .chain([Arc::new(Link::new(parts))])
            .collect();
        drop(links);
        self.links_version.fetch_add(1, Ordering::AcqRel);
    }

    /// A peer is gone: every channel to it ends with [`Errno::KernelDied`].
    pub(crate) fn link_down(&self, kernel: KernelId, generation: u32) {
        let mut links = self.links.lock();
        let is_it = |link: &Arc<Link>| link.kernel == kernel && link.generation == generation;
        let Some(link) = links.iter().find(|link| is_it(link)).cloned() else {
            return;
        };
        *links = links.iter().filter(|link| !is_it(link)).cloned().collect();
        drop(links);
        self.links_version.fetch_add(1, Ordering::AcqRel);
        link.kill();
        let over_link = |end: &Arc<RemoteEnd>| end.is_over(&link);
        let dead = self.ends.lock().drain_where(over_link);
        dead.iter().for_each(|end| end.finish(Errno::KernelDied));
    }

    /// A new shadow endpoint and the endpoint that it feeds. The way out is known when the peer is.
    pub(crate) fn open(
        self: &Arc<Self>,
        contract: &Arc<Table>,
        side: Side,
        state: u8,
    ) -> Result<(ChannelId, Arc<RemoteEnd>, Box<Endpoint>), Errno> {
        let (ring, consumer, inbox) = direction();
        let end = Arc::new(RemoteEnd {
            link: SpinLock::new(None),
            peer: AtomicU64::new(0),
            contract: contract.clone(),
            sender: side.peer(),
            state: AtomicU32::new(u32::from(state)),
            ring: SpinLock::new(ring),
            inbox: inbox.clone(),
            cargo: SpinLock::new(None),
            credits: AtomicU32::new(CHANNEL_DEPTH),
            room: Event::default(),
            refused: AtomicU32::new(0),
            pool: SpinLock::new(None),
        });
        let slot = self
            .ends
            .lock()
            .insert(end.clone())
            .map_err(|_| Errno::LimitReached)?;
        let route = Route::Remote(RemoteRoute {
            rmp: self.clone(),
            end: end.clone(),
            id: slot,
        });
        let endpoint = Endpoint::new(contract.clone(), side, state, (consumer, inbox), route);
        Ok((ChannelId(slot), end, endpoint))
    }

    /// The shadow endpoint with this id.
    fn end(&self, id: u64) -> Option<Arc<RemoteEnd>> {
        self.ends.lock().get(Slot::unpack(id)).cloned()
    }

    /// Takes what has come over a link. Returns whether there was anything.
    pub(crate) fn poll(self: &Arc<Self>, link: &Arc<Link>) -> Result<bool, LinkFault> {
        link.flush();
        link.take(|frame| {
            let header = frame.header().map_err(|e| LinkFault(alloc::format!("{e}")))?;
            self.on_frame(link, header, frame.words())
        })
    }

    fn on_frame(
        self: &Arc<Self>,
        link: &Arc<Link>,
        header: FrameHeader,
        words: &[u64],
    ) -> Result<(), LinkFault> {
        let &[_, id, ref rest @ ..] = words else {
            return fault("frame without an id");
        };
        if header.kind == kind::LOAN_RETURNED {
            link.loan_returned(Slot::unpack(id));
            return Ok(());
        }
        let end = self.end(id).filter(|end| end.is_over(link) || end.adopt(link));
        match (header.kind, end, rest) {
            (kind::MESSAGE, Some(end), _) => self.on_message(&end, header, words),
            (kind::MESSAGE, None, _) => Ok(()),
            (kind::BLOCK, end, &[slot, place, ..]) => on_block(link, end, header.handle_count, slot, place),
            (kind::ENDPOINT, end, rest) => self.on_endpoint(link, end, header, rest),
            (kind::OPENED, Some(end), &[peer, ..]) => {
                end.connect(ChannelId(Slot::unpack(peer)), link);
                Ok(())
            }
            (kind::CREDIT, Some(end), &[count, ..]) => end.on_credit(count),
            (kind::CLOSE, Some(end), &[reason, ..]) => {
                self.on_close(id, &end, reason);
                Ok(())
            }
            (kind::POOL, end, &[place, shape, slot, ..]) => on_pool(link, end, slot, (place, shape)),
            (kind::BUFFER_RETURNED, Some(end), &[index, ..]) => end.on_buffer_returned(index),
            (kind::OPENED | kind::CREDIT | kind::CLOSE | kind::BUFFER_RETURNED, None, _) => Ok(()),
            _ => fault("frame of an unknown kind or shape"),
        }
    }

    fn on_message(&self, end: &RemoteEnd, header: FrameHeader, words: &[u64]) -> Result<(), LinkFault> {
        let Some((mut message, handles)) = Message::decode(header, 1, words) else {
            return fault("message shorter than its header says");
        };
        message.cargo = end.cargo.lock().take();
        if message.handle_count() != handles {
            return fault("message without the capabilities it names");
        }
        end.deliver(message)
    }

    fn on_endpoint(
        self: &Arc<Self>,
        link: &Arc<Link>,
        end: Option<Arc<RemoteEnd>>,
        header: FrameHeader,
        rest: &[u64],
    ) -> Result<(), LinkFault> {
        let &[peer, state, a, b, c, d] = rest else {
            return fault("endpoint of the wrong shape");
        };
        let digest = Digest(words_to_bytes([a, b, c, d]));
        let side = if header.tag == 0 {
            Side::Client
        } else {
            Side::Service
        };
        let close = || link.post(&[&[self::header(kind::CLOSE, 0, 0), peer, Errno::Closed as u64]]);
        let (Some(end), Some(contract)) = (end, self.contract(&digest)) else {
            close();
            return Ok(());
        };
        if state > u64::from(contract.states()) {
            return fault("endpoint in a state that its contract does not have");
        }
        let Ok((id, shadow, endpoint)) = self.open(&contract, side, state as u8) else {
            close();
            return Ok(());
        };
        shadow.connect(ChannelId(Slot::unpack(peer)), link);
        link.post(&[&[self::header(kind::OPENED, 0, 0), peer, id.0.pack()]]);
        end.load(header.handle_count, Capability::Endpoint(endpoint))
    }

    fn on_close(&self, id: u64, end: &RemoteEnd, reason: u64) {
        let reason = Errno::from_result(-(reason as i32)).unwrap_or(Errno::Closed);
        self.ends.lock().remove(Slot::unpack(id));
        end.finish(reason);
    }

    /// Prepares an endpoint for its journey to a peer: it stays here, spliced to a new channel whose other end
    /// the peer makes. Returns the frame that says so.
    fn emigrate(
        self: &Arc<Self>,
        endpoint: Box<Endpoint>,
        link: &Arc<Link>,
    ) -> Result<[u64; 6], Box<Endpoint>> {
        let contract = endpoint.contract().clone();
        let (side, state) = (endpoint.side(), endpoint.state());
        let spawner = self.spawner.lock().clone();
        let Some(spawner) = spawner else {
            return Err(endpoint);
        };
        let Ok((id, end, half)) = self.open(&contract, side.peer(), state) else {
            return Err(endpoint);
        };
        end.adopt(link);
        spawner(Box::pin(relay::run(endpoint, half)));
        let [a, b, c, d] = bytes_to_words(contract.digest().0);
        Ok([id.0.pack(), u64::from(state), a, b, c, d])
    }
}

fn on_block(
    link: &Arc<Link>,
    end: Option<Arc<RemoteEnd>>,
    position: u8,
    slot: u64,
    place: u64,
) -> Result<(), LinkFault> {
    let (offset, len) = unpack_place(place);
    if len > BLOCK_MAX || link.heap.part(offset as usize, len as usize).is_err() {
        return fault("block outside the peer's exchange heap");
    }
    let foreign = ForeignBlock::new(ForeignLoan::new(link.clone(), slot), offset, len);
    // Without an end the block is dropped here, which gives it back to the peer.
    end.map_or(Ok(()), |end| end.load(position, Capability::Foreign(foreign)))
}

/// A peer's pool: mapped into the consumer's window when its first buffer arrives.
fn on_pool(
    link: &Arc<Link>,
    end: Option<Arc<RemoteEnd>>,
    slot: u64,
    (place, shape): (u64, u64),
) -> Result<(), LinkFault> {
    let loan = ForeignLoan::new(link.clone(), slot);
    let (offset, _) = unpack_place(place);
    let (stride, count) = (shape as u32, (shape >> 32) as u32);
    let layout = Pool::layout(stride, count)
        .ok()
        .filter(|layout| layout.1 == stride);
    let Some((total, _)) = layout else {
        return fault("pool of an impossible shape");
    };
    let Ok(pages) = link.heap.part(offset as usize, total as usize) else {
        return fault("pool outside the peer's exchange heap");
    };
    if !offset.is_multiple_of(crate::heap::PAGE as u64) {
        return fault("pool that is not page-aligned");
    }
    // Without an end the loan is dropped here, which gives the pool back to the peer.
    if let Some(end) = end {
        *end.inbox.pool.lock() = Some(Pool::foreign(pages, loan, stride, count));
    }
    Ok(())
}

impl RemoteEnd {
    fn is_over(&self, link: &Arc<Link>) -> bool {
        self.link
            .lock()
            .as_ref()
            .is_some_and(|own| Arc::ptr_eq(own, link))
    }

    /// The first frame says which link the channel is over, if that was not known yet.
    fn adopt(&self, link: &Arc<Link>) -> bool {
        let mut own = self.link.lock();
        let unknown = own.is_none();
        if unknown {
            *own = Some(link.clone());
        }
        unknown
    }

    /// The other side is known: messages may go out.
    pub(crate) fn connect(&self, peer: ChannelId, link: &Arc<Link>) {
        self.adopt(link);
        self.peer.store(peer.0.pack(), Ordering::Release);
        self.room.signal();
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

    fn load(&self, position: u8, capability: Capability) -> Result<(), LinkFault> {
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
    fn deliver(&self, mut message: Message) -> Result<(), LinkFault> {
        let mut kinds = [HandleKind::Block; HANDLES_MAX];
        let count = message.kinds(&mut kinds);
        let state = self.state.load(Ordering::Relaxed) as u8;
        let inline = usize::from(message.inline_len);
        let buffer = message.buffer;
        let step = self.contract.step(
            state,
            self.sender,
            message.tag,
            inline,
            &kinds[..count],
            buffer.is_some(),
        );
        let next =
            step.map_err(|violation| LinkFault(alloc::format!("message {}: {violation}", message.tag)))?;
        if let Some(buffer) = buffer {
            let pool = self.inbox.pool.lock().clone();
            let arrived = pool
                .ok_or(Errno::Protocol)
                .and_then(|pool| pool.arrive(buffer.index, buffer.len));
            arrived.map_err(|_| LinkFault(String::from("pool buffer that the sender did not hold")))?;
        }
        self.state.store(u32::from(next), Ordering::Relaxed);
        match self.inbox.push(&mut self.ring.lock(), &mut message) {
            Err(Errno::WouldBlock) => fault("more messages than credits"),
            // A consumer that has gone wants nothing; what travelled is dropped with the message.
            _ => Ok(()),
        }
    }

    fn on_credit(&self, count: u64) -> Result<(), LinkFault> {
        let credits = self.credits.fetch_add(count as u32, Ordering::AcqRel);
        if u64::from(credits) + count > u64::from(CHANNEL_DEPTH) {
            return fault("more credits than messages");
        }
        self.room.signal();
        Ok(())
    }

    fn on_buffer_returned(&self, index: u64) -> Result<(), LinkFault> {
        let pool = self.pool.lock().clone();
        let returned = pool
            .ok_or(Errno::Invalid)
            .and_then(|pool| pool.returned(index as u32));
        returned.map_err(|_| LinkFault(String::from("return of a pool buffer that was not lent")))
    }
}

/// The way out to another satellite.
pub(crate) struct RemoteRoute {
    rmp: Arc<Rmp>,
    end: Arc<RemoteEnd>,
    id: Slot,
}

impl RemoteRoute {
    fn link(&self) -> Option<Arc<Link>> {
        self.end.link.lock().clone()
    }

    /// Sends a message; on error it stays whole. `next` is the protocol's state after it.
    pub(crate) fn send(&self, message: &mut Message, next: u8) -> Result<(), Errno> {
        let end = &*self.end;
        if let Some(reason) = code(end.refused.load(Ordering::Acquire)) {
            return Err(reason);
        }
        let peer = end.peer.load(Ordering::Acquire);
        let Some(link) = self.link().filter(|_| peer != 0) else {
            return Err(Errno::WouldBlock);
        };
        let spend = |credits: u32| credits.checked_sub(1);
        if end
            .credits
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, spend)
            .is_err()
        {
            return Err(Errno::WouldBlock);
        }
        let mut words = [0; 14];
        let len = message.encode(kind::MESSAGE, &[peer], &mut words);
        if message.cargo.is_none() {
            end.state.store(u32::from(next), Ordering::Relaxed);
            link.post(&[&words[..len]]);
            return Ok(());
        }
        if let Err(errno) = self.settle(message) {
            end.credits.fetch_add(1, Ordering::AcqRel);
            return Err(errno);
        }
        end.state.store(u32::from(next), Ordering::Relaxed);
        self.send_with_cargo(&link, peer, message, &words[..len])
    }

    /// Blocks that still lie with a third satellite come here first.
    fn settle(&self, message: &mut Message) -> Result<(), Errno> {
        for place in message.cargo.as_deref_mut().into_iter().flatten() {
            if let Some(Capability::Foreign(foreign)) = place {
                *place = Some(Capability::Block(foreign.copy(&self.rmp.heap)?));
            }
        }
        Ok(())
    }

    fn send_with_cargo(
        &self,
        link: &Arc<Link>,
        peer: u64,
        message: &mut Message,
        last: &[u64],
    ) -> Result<(), Errno> {
        let mut frames: Vec<Vec<u64>> = Vec::with_capacity(HANDLES_MAX + 1);
        let cargo = message.cargo.take();
        for (position, capability) in cargo.into_iter().flat_map(|c| *c).flatten().enumerate() {
            frames.push(self.capability_frame(link, peer, position as u8, capability)?);
        }
        let mut pieces: Vec<&[u64]> = frames.iter().map(Vec::as_slice).collect();
        pieces.push(last);
        link.post(&pieces);
        Ok(())
    }

    fn capability_frame(
        &self,
        link: &Arc<Link>,
        peer: u64,
        position: u8,
        capability: Capability,
    ) -> Result<Vec<u64>, Errno> {
        match capability {
            Capability::Block(block) => {
                let place = pack_place(block.offset(), block.len());
                let slot = link
                    .lend(Loan::Block { _block: block })
                    .map_err(|_| Errno::LimitReached)?;
                Ok(alloc::vec![
                    header(kind::BLOCK, 0, position),
                    peer,
                    slot.pack(),
                    place
                ])
            }
            Capability::Endpoint(endpoint) => {
                let tag = u16::from(endpoint.side() == Side::Service);
                let emigrated = self
                    .rmp
                    .emigrate(endpoint, link)
                    .map_err(|_| Errno::LimitReached)?;
                let mut frame = alloc::vec![header(kind::ENDPOINT, tag, position), peer];
                frame.extend_from_slice(&emigrated);
                Ok(frame)
            }
            Capability::Foreign(_) => Err(Errno::Invalid),
        }
    }

    /// Tells the peer that `count` messages were taken.
    pub(crate) fn credit(&self, count: u32) {
        self.tell(kind::CREDIT, u64::from(count));
    }

    /// Tells the peer that a buffer of its pool is free.
    pub(crate) fn return_buffer(&self, index: u32) {
        self.tell(kind::BUFFER_RETURNED, u64::from(index));
    }

    fn tell(&self, kind: u8, word: u64) {
        let peer = self.end.peer.load(Ordering::Acquire);
        if let Some(link) = self.link().filter(|_| peer != 0) {
            link.post(&[&[header(kind, 0, 0), peer, word]]);
        }
    }

    /// Tells the peer of a pool that it may map. It is on loan until the peer has unmapped it.
    pub(crate) fn announce_pool(&self, pool: &Arc<Pool>) -> Result<(), Errno> {
        let peer = self.end.peer.load(Ordering::Acquire);
        let link = self.link().filter(|_| peer != 0).ok_or(Errno::WouldBlock)?;
        let offset = pool.offset().ok_or(Errno::Invalid)?;
        let shape = u64::from(pool.stride) | u64::from(pool.count()) << 32;
        let slot = link
            .lend(Loan::Pool { _pool: pool.clone() })
            .map_err(|_| Errno::LimitReached)?;
        *self.end.pool.lock() = Some(pool.clone());
        link.post(&[&[
            header(kind::POOL, 0, 0),
            peer,
            pack_place(offset, 0),
            shape,
            slot.pack(),
        ]]);
        Ok(())
    }

    /// What is signalled when a message may be sent again.
    pub(crate) fn room(&self) -> &Event {
        &self.end.room
    }

    /// The peer's kernel.
    pub(crate) fn kernel(&self) -> u16 {
        self.link().map_or(0, |link| link.kernel.0)
    }

    /// Closes the channel.
    pub(crate) fn close(&self, reason: Errno) {
        let open = self.rmp.ends.lock().remove(self.id);
        if open.is_some() {
            self.tell(kind::CLOSE, reason as u64);
        }
    }
}

fn fault<T>(reason: &str) -> Result<T, LinkFault> {
    Err(LinkFault(String::from(reason)))
}

/// Offset in lines of 64 bytes (34 bits) and length (29 bits).
pub(crate) fn pack_place(offset: u64, len: u32) -> u64 {
    offset >> 6 | u64::from(len) << 34
}

fn unpack_place(word: u64) -> (u64, u32) {
    ((word & ((1 << 34) - 1)) << 6, (word >> 34) as u32)
}

fn words_to_bytes(words: [u64; 4]) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (chunk, word) in bytes.chunks_exact_mut(8).zip(words) {
        chunk.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

fn bytes_to_words(bytes: [u8; 32]) -> [u64; 4] {
    let mut words = [0; 4];
    for (word, chunk) in words.iter_mut().zip(bytes.chunks_exact(8)) {
        *word = chunk
            .iter()
            .rev()
            .fold(0, |word, &byte| word << 8 | u64::from(byte));
    }
    words
}
