//! The way out to another satellite: credits, capabilities, and the frames that carry them.
//!
//! Nothing is sent without a credit of the receiver, so that a ring never holds what has no place (Helios
//! §3.6). `arrival.rs` is the other side.

use super::{
    RemoteEnd, Rmp,
    frames::{header, kind, pack_place},
};
use crate::{
    event::Event,
    inbox::code,
    link::{Lent, Link, Loan},
    message::{Capability, Message},
    pool::Pool,
};
use alloc::{sync::Arc, vec::Vec};
use satrap_abi::{Errno, Slot, limits::HANDLES_MAX};
use satrap_sync::Ordering;
use satrap_table::Side;

/// The way out to another satellite.
pub(crate) struct RemoteRoute {
    pub(super) rmp: Arc<Rmp>,
    pub(super) end: Arc<RemoteEnd>,
    pub(super) id: Slot,
}

impl RemoteRoute {
    #[inline]
    fn link(&self) -> Option<&Arc<Link>> {
        self.end.link.get()
    }

    /// Whether `end` is its shadow endpoint.
    #[inline]
    pub(crate) fn is_over(&self, end: &RemoteEnd) -> bool {
        core::ptr::eq(&*self.end, end)
    }

    /// Sends a message; on error it stays whole. `next` is the protocol's state after it.
    pub(crate) fn send(&mut self, message: &mut Message, next: u8) -> Result<(), Errno> {
        let end = &*self.end;
        if let Some(reason) = code(end.refused.load(Ordering::Acquire)) {
            return Err(reason);
        }
        let peer = end.peer.load(Ordering::Acquire);
        let Some(link) = self.link().filter(|_| peer != 0) else {
            return Err(Errno::WouldBlock);
        };
        if message.cargo.is_some() && !end.has_window() {
            return Err(Errno::WouldBlock);
        }
        let spent = end.spent.load(Ordering::Relaxed);
        if spent == end.granted.load(Ordering::Acquire) {
            return Err(Errno::WouldBlock);
        }
        end.spent.store(spent.wrapping_add(1), Ordering::Relaxed);
        message.address(kind::MESSAGE, peer);
        if message.cargo.is_none() {
            end.state.store(u32::from(next), Ordering::Relaxed);
            link.post(&[message.words()]);
            return Ok(());
        }
        if let Err(errno) = self.settle(message) {
            end.spent.store(spent, Ordering::Relaxed);
            return Err(errno);
        }
        end.state.store(u32::from(next), Ordering::Relaxed);
        self.send_with_cargo(link, peer, message)
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

    fn send_with_cargo(&self, link: &Arc<Link>, peer: u64, message: &mut Message) -> Result<(), Errno> {
        let mut frames: Vec<Vec<u64>> = Vec::with_capacity(HANDLES_MAX + 1);
        let cargo = message.cargo.take();
        for (position, capability) in cargo.into_iter().flat_map(|c| *c).flatten().enumerate() {
            frames.push(self.capability_frame(link, peer, position as u8, capability)?);
        }
        let mut pieces: Vec<&[u64]> = frames.iter().map(Vec::as_slice).collect();
        pieces.push(message.words());
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
                    .lend(Loan::Block {
                        _lent: Lent::new(block, self.end.clone()),
                    })
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
        if self.rmp.remove(self.id) {
            self.tell(kind::CLOSE, reason as u64);
        }
    }
}
