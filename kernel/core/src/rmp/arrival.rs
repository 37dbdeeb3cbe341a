//! What arrives over a link: each frame is validated once and then acted upon.
//!
//! A peer may send anything, so a frame names nothing that is not looked up, with its generation, in our own
//! tables. `route.rs` makes the frames; `mod.rs` holds what both share.

use super::{
    ForeignBlock, ForeignLoan, Offer, RemoteEnd, Rmp,
    frames::{self, fault, kind, unpack_place, words_to_bytes},
};
use crate::{
    endpoint::{Endpoint, Route},
    inbox,
    link::{Link, LinkFault, Recent},
    message::{Capability, Message},
    pool::Pool,
};
use alloc::{boxed::Box, sync::Arc};
use satrap_abi::{ChannelId, Digest, Errno, Slot, limits::BLOCK_MAX};
use satrap_link::FrameHeader;
use satrap_sync::Ordering;
use satrap_table::{Side, Table};

impl Rmp {
    /// Answers one frame; nearly always it is a message.
    #[inline]
    pub(super) fn on_frame(
        self: &Arc<Self>,
        link: &Arc<Link>,
        message: &mut Message,
        recent: &mut Option<Recent>,
        offer: &mut Offer<'_>,
    ) -> Result<(), LinkFault> {
        let frame = message.frame();
        let header = frame
            .header()
            .map_err(|error| LinkFault(alloc::format!("{error}")))?;
        let &[_, id, ref rest @ ..] = frame.words() else {
            return fault("frame without an id");
        };
        // What messages entail comes as often as they do.
        if !matches!(header.kind, kind::MESSAGE | kind::BUFFER_RETURNED | kind::CREDIT) {
            return self.on_other(link, header, id, rest);
        }
        let Some(end) = self.recipient(link, id, recent) else {
            return Ok(());
        };
        match (header.kind, rest) {
            (kind::MESSAGE, _) => on_message(end, message, offer),
            (kind::BUFFER_RETURNED, &[index, ..]) => end.on_buffer_returned(index),
            (kind::CREDIT, &[count, ..]) => end.on_credit(count),
            _ => fault("frame of an unknown kind or shape"),
        }
    }

    /// The shadow endpoint that a frame is for.
    #[inline]
    fn recipient<'r>(
        &self,
        link: &Arc<Link>,
        id: u64,
        recent: &'r mut Option<Recent>,
    ) -> Option<&'r RemoteEnd> {
        let removals = self.removals.load(Ordering::Acquire);
        let known = |recent: &Recent| recent.id == id && recent.removals == removals;
        if !recent.as_ref().is_some_and(known) {
            let found = self.end(id, link);
            *recent = found.map(|end| Recent { id, end, removals });
        }
        recent.as_ref().map(|recent| &*recent.end)
    }

    /// Answers a frame of a rarer kind.
    #[inline(never)]
    fn on_other(
        self: &Arc<Self>,
        link: &Arc<Link>,
        header: FrameHeader,
        id: u64,
        rest: &[u64],
    ) -> Result<(), LinkFault> {
        if header.kind == kind::LOAN_RETURNED {
            link.loan_returned(Slot::unpack(id));
            return Ok(());
        }
        match (header.kind, self.end(id, link), rest) {
            (kind::BLOCK, end, &[slot, place, ..]) => on_block(link, end, header.handle_count, slot, place),
            (kind::ENDPOINT, end, rest) => self.on_endpoint(link, end, header, rest),
            (kind::OPENED, Some(end), &[peer, ..]) => {
                // `end` is over this link.
                let _ = end.connect(ChannelId(Slot::unpack(peer)), link);
                Ok(())
            }
            // The channel ended while the peer opened its side of it: it has not been told yet.
            (kind::OPENED, None, &[peer, ..]) => {
                link.post(&[&[frames::header(kind::CLOSE, 0, 0), peer, Errno::Closed as u64]]);
                Ok(())
            }
            (kind::CLOSE, Some(end), &[reason, ..]) => {
                self.on_close(id, &end, reason);
                Ok(())
            }
            (kind::POOL, end, &[place, shape, slot, ..]) => on_pool(link, end, slot, (place, shape)),
            (kind::CLOSE, None, _) => Ok(()),
            _ => fault("frame of an unknown kind or shape"),
        }
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
        let close = || link.post(&[&[frames::header(kind::CLOSE, 0, 0), peer, Errno::Closed as u64]]);
        let Some(end) = end else {
            close();
            return Ok(());
        };
        let settled = match self.contract(&digest) {
            Some(contract) if state > u64::from(contract.states()) => {
                return fault("endpoint in a state that its contract does not have");
            }
            Some(contract) => self.settle(link, peer, &contract, (side, state as u8)),
            None => None,
        };
        // Its message is innocent and comes all the same, with an endpoint that is closed.
        let endpoint = settled.unwrap_or_else(|| {
            close();
            closed(&end.contract)
        });
        end.load(header.handle_count, Capability::Endpoint(endpoint))
    }

    /// Continues a peer's endpoint here, if there is room for it.
    fn settle(
        self: &Arc<Self>,
        link: &Arc<Link>,
        peer: u64,
        contract: &Arc<Table>,
        (side, state): (Side, u8),
    ) -> Option<Box<Endpoint>> {
        let arrival = link.arrival()?;
        let (id, shadow, endpoint) = self.open(contract, side, state).ok()?;
        let _ = shadow.arrival.set(Box::new(arrival));
        shadow.connect(ChannelId(Slot::unpack(peer)), link).ok()?;
        link.post(&[&[frames::header(kind::OPENED, 0, 0), peer, id.0.pack()]]);
        Some(endpoint)
    }

    fn on_close(&self, id: u64, end: &RemoteEnd, reason: u64) {
        // An end that reads "try again" would never be seen as one.
        let again = |reason: &Errno| matches!(reason, Errno::WouldBlock | Errno::TimedOut);
        let reason = i32::try_from(reason)
            .ok()
            .and_then(|code| Errno::from_result(-code))
            .filter(|reason| !again(reason))
            .unwrap_or(Errno::Closed);
        self.remove(Slot::unpack(id));
        end.finish(reason);
    }
}

/// An endpoint whose other side is closed.
fn closed(contract: &Arc<Table>) -> Box<Endpoint> {
    let (ring, receiver, inbox) = inbox::ended(Errno::Closed);
    let route = Route::Local {
        ring,
        peer: inbox.clone(),
    };
    Endpoint::new(
        contract.clone(),
        Side::Client,
        Table::START,
        (receiver, inbox),
        route,
    )
}

#[inline]
fn on_message(end: &RemoteEnd, message: &mut Message, offer: &mut Offer<'_>) -> Result<(), LinkFault> {
    if !message.is_whole() {
        return fault("message of another length than its header says");
    }
    message.cargo = match message.named_handles() {
        0 => None,
        _ => end.cargo.lock().take(),
    };
    if message.handle_count() != message.named_handles() {
        return fault("message without the capabilities it names");
    }
    end.admit(message)?;
    // Copying cargo would keep the link from others.
    if message.cargo.is_none() && offer(end, message) {
        return Ok(());
    }
    let delivered = end.deliver(message);
    // A consumer that has gone has taken nothing.
    message.cargo = None;
    delivered
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
    let Some(end) = end else { return Ok(()) };
    let mut known = end.inbox.pool.lock();
    if known.is_some() {
        // The consumer may have mapped the first.
        return fault("a second pool for one direction of a channel");
    }
    *known = Some(Pool::foreign(pages, loan, stride, count));
    Ok(())
}
