//! Remote message passing (Helios §3.6): shadow endpoints, credits, and blocks copied once, heap to heap.
//!
//! A channel between satellites has a [`RemoteEnd`] on each: the shadow of the other side's endpoint. Sending
//! posts frames on the link; arriving frames are validated once and pushed into the endpoint's inbox, as a
//! local peer would. Frames name the receiver's `RemoteEnd` by an id with a generation, so that one for a
//! closed channel finds nothing.

mod arrival;
mod frames;
mod route;
mod shadow;
#[cfg(test)]
mod tests;

pub(crate) use crate::foreign::{ForeignBlock, ForeignLoan};
pub(crate) use frames::{header, kind};
pub(crate) use route::RemoteRoute;
pub(crate) use shadow::RemoteEnd;

use crate::{
    endpoint::{Endpoint, Route},
    event::Event,
    heap::ExchangeHeap,
    inbox::direction,
    link::{Link, LinkFault, LinkParts},
    message::Message,
    relay,
    slab::Slab,
};
use alloc::{boxed::Box, collections::BTreeMap, string::String, sync::Arc};
use core::{future::Future, ops::Deref, pin::Pin};
use frames::bytes_to_words;
use once_cell::race::OnceBox;
use satrap_abi::{ChannelId, Digest, Errno, KernelId, Slot, limits::CHANNEL_DEPTH};
use satrap_sync::{AtomicU32, AtomicU64, Ordering, SpinLock};
use satrap_table::{Side, Table};

/// Most remote channels of one satellite.
const ENDS_MAX: u32 = 1 << 20;

/// A list of links, replaced as a whole, so that whoever polls holds it without a copy.
type Links = Arc<[Arc<Link>]>;

/// The links as somebody who looks at them often knows them.
#[derive(Default)]
pub(crate) struct KnownLinks {
    /// Of which version the list is, if it was ever read.
    version: Option<u64>,
    list: Links,
}

impl KnownLinks {
    /// Reads the list if it has changed.
    #[inline]
    pub(crate) fn refresh(&mut self, rmp: &Rmp) {
        if self.is_old(rmp) {
            let links = rmp.links.lock();
            self.version = Some(rmp.links_version.load(Ordering::Acquire));
            self.list = links.clone();
        }
    }

    /// Whether the list has changed since.
    #[inline]
    pub(crate) fn is_old(&self, rmp: &Rmp) -> bool {
        self.version != Some(rmp.links_version.load(Ordering::Acquire))
    }
}

impl Deref for KnownLinks {
    type Target = [Arc<Link>];

    #[inline]
    fn deref(&self) -> &[Arc<Link>] {
        &self.list
    }
}

/// Offers a message that has just come for a shadow endpoint to whoever polls for it. If that takes it (true),
/// it needs no queue and no second look.
pub(crate) type Offer<'o> = dyn FnMut(&RemoteEnd, &mut Message) -> bool + 'o;

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
    /// How many of `ends` have been removed.
    removals: AtomicU64,
    /// How many links there are.
    peers: AtomicU32,
    spawner: SpinLock<Option<Arc<Spawner>>>,
}

impl Rmp {
    pub(crate) fn new(heap: Arc<ExchangeHeap>) -> Arc<Rmp> {
        Arc::new(Rmp {
            heap,
            ends: SpinLock::new(Slab::new(ENDS_MAX)),
            contracts: SpinLock::default(),
            links: SpinLock::default(),
            links_version: AtomicU64::new(0),
            removals: AtomicU64::new(0),
            peers: AtomicU32::new(0),
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

    /// Whether there is any peer.
    #[inline]
    pub(crate) fn has_links(&self) -> bool {
        self.peers.load(Ordering::Relaxed) > 0
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
        self.peers.store(links.len() as u32, Ordering::Relaxed);
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
        self.peers.store(links.len() as u32, Ordering::Relaxed);
        drop(links);
        self.links_version.fetch_add(1, Ordering::AcqRel);
        link.kill();
        let over_link = |end: &Arc<RemoteEnd>| end.is_over(&link);
        let dead = self.ends.lock().drain_where(over_link);
        self.removals.fetch_add(1, Ordering::Release);
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
            link: OnceBox::new(),
            peer: AtomicU64::new(0),
            contract: contract.clone(),
            sender: side.peer(),
            state: AtomicU32::new(u32::from(state)),
            ring: SpinLock::new(ring),
            inbox: inbox.clone(),
            cargo: SpinLock::new(None),
            spent: AtomicU32::new(0),
            granted: AtomicU32::new(CHANNEL_DEPTH),
            room: Event::default(),
            on_loan: AtomicU64::new(0),
            refused: AtomicU32::new(0),
            pool: SpinLock::new(None),
            arrival: OnceBox::new(),
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

    /// The shadow endpoint with this id, if its channel is over this link.
    fn end(&self, id: u64, link: &Arc<Link>) -> Option<Arc<RemoteEnd>> {
        let end = self.ends.lock().get(Slot::unpack(id)).cloned()?;
        (end.is_over(link) || end.adopt(link)).then_some(end)
    }

    /// Forgets a shadow endpoint; whether it was known.
    fn remove(&self, id: Slot) -> bool {
        let removed = self.ends.lock().remove(id);
        self.removals.fetch_add(1, Ordering::Release);
        removed.is_some()
    }

    /// Takes what has come over a link, or comes while this looks at most `turns` times. Returns whether there
    /// was anything.
    pub(crate) fn poll(
        self: &Arc<Self>,
        link: &Arc<Link>,
        turns: u32,
        offer: &mut Offer<'_>,
    ) -> Result<bool, LinkFault> {
        link.flush();
        if link.is_overdrawn() {
            return Err(LinkFault(String::from("it keeps what it was lent")));
        }
        let removals = self.removals.load(Ordering::Acquire);
        link.take(turns, removals, |message, recent| {
            self.on_frame(link, message, recent, offer)
        })
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

impl Drop for Rmp {
    /// A link and what came over it hold each other.
    fn drop(&mut self) {
        self.links.lock().iter().for_each(|link| link.kill());
    }
}
