//! Sending, receiving, and waiting for whichever endpoint or service is ready first.
//!
//! A call that waits gives its thread back to the executor and looks again when woken; nothing is held
//! meanwhile. `endpoint.rs` keeps the contract and the queue, `message.rs` is what travels.

use super::{CallContext, done, value, wait::Awaited, writable};
use crate::{
    endpoint,
    engine::Call,
    message::Message,
    platform::Platform,
    process::{Handle, Held, Table},
    rmp::RemoteEnd,
};
use alloc::{boxed::Box, vec::Vec};
use core::task::Waker;
use satrap_abi::{Errno, ExitStatus};

/// Handles that one `wait` can name.
const WAIT_MAX: u32 = 1024;

/// A message that is to be received on an endpoint, into guest memory.
struct Reception<'c, P: Platform> {
    context: &'c CallContext<P>,
    endpoint: u32,
    pointer: u32,
}

impl<P: Platform> Awaited<()> for Reception<'_, P> {
    #[inline(always)]
    fn look(&mut self, mut waker: Option<&Waker>) -> Result<(), Errno> {
        let mut table = self.context.process.table.lock();
        let end = &mut table.endpoint(self.endpoint)?.endpoint;
        let mut message = self.context.message();
        // One place that receives, so that all of it is compiled into this function.
        let received = loop {
            match (end.receive(&mut message), waker.take()) {
                (Err(Errno::WouldBlock), Some(waker)) => end.arrived().announce(waker),
                (received, _) => break received,
            }
        };
        let stored = received.and_then(|()| self.hand_over(&mut table, &mut message));
        self.context.keep(message);
        stored
    }

    #[inline]
    fn comes_by_a_link(&self) -> bool {
        let mut table = self.context.process.table.lock();
        table
            .endpoint(self.endpoint)
            .is_ok_and(|held| held.endpoint.is_remote())
    }

    #[inline(always)]
    fn take(&mut self, end: &RemoteEnd, message: &mut Message) -> Option<Result<(), Errno>> {
        let mut table = self.context.process.table.lock();
        let own = &mut table.endpoint(self.endpoint).ok()?.endpoint;
        if !own.is_next_of(end) {
            return None;
        }
        let received = own.take_in(message);
        Some(received.and_then(|()| self.hand_over(&mut table, message)))
    }
}

impl<P: Platform> Reception<'_, P> {
    /// Writes a received message into guest memory. What does not fit there stays with the endpoint.
    #[inline(always)]
    fn hand_over(&self, table: &mut Table, message: &mut Message) -> Result<(), Errno> {
        let stored = self.context.store(table, self.endpoint, message, self.pointer);
        if stored.is_err()
            && let Ok(held) = table.endpoint(self.endpoint)
        {
            held.endpoint.put_back(message);
        }
        stored
    }
}

impl<P: Platform> CallContext<P> {
    pub(super) fn make_channel(&self, contract: u32, out: u32) -> Result<(), Errno> {
        writable(&self.process, out, 8)?;
        let contract = self
            .satellite
            .rmp
            .contract(&self.read_digest(contract)?)
            .ok_or(Errno::NotFound)?;
        let mut table = self.process.table.lock();
        if !table.has_room(2, 0, &self.process.limits) {
            return Err(Errno::LimitReached);
        }
        let (client, service) = endpoint::channel(&contract);
        for (index, end) in [client, service].into_iter().enumerate() {
            let held = Handle::Endpoint(Held::new(end.named(contract.name())));
            let number = table.insert(held).map_err(|_| Errno::LimitReached)?;
            self.write_word(out + 4 * index as u32, number)?;
        }
        Ok(())
    }

    #[inline(always)]
    pub(super) fn send_message(&self, endpoint: u32, pointer: u32, deadline: u64) -> Call {
        let mut message = self.message();
        let sent = match self.load(pointer, endpoint, &mut message) {
            Ok(lifted) => {
                let sent = self.send_waiting(endpoint, &mut message, deadline);
                self.settle(&lifted, &mut message);
                sent
            }
            Err(errno) => Ok(errno.to_result()),
        };
        self.keep(message);
        self.attend();
        sent
    }

    #[inline(always)]
    fn send_waiting(&self, endpoint: u32, message: &mut Message, deadline: u64) -> Call {
        // Nearly always there is room at once.
        let first = self.try_send(endpoint, message);
        if first != Err(Errno::WouldBlock) {
            return Ok(done(first));
        }
        self.send_later(endpoint, message, deadline)
    }

    #[inline(always)]
    fn try_send(&self, endpoint: u32, message: &mut Message) -> Result<(), Errno> {
        let mut table = self.process.table.lock();
        table.endpoint(endpoint)?.endpoint.try_send(message)
    }

    #[inline(never)]
    fn send_later(&self, endpoint: u32, message: &mut Message, deadline: u64) -> Call {
        let look = |waker: Option<&Waker>| {
            if let Some(waker) = waker {
                let mut table = self.process.table.lock();
                table.endpoint(endpoint)?.endpoint.room().announce(waker);
            }
            self.try_send(endpoint, message)
        };
        Ok(done(self.wait_until(deadline, look)?))
    }

    #[inline(always)]
    pub(super) fn receive_message(&self, endpoint: u32, pointer: u32, deadline: u64) -> Call {
        let reception = Reception {
            context: self,
            endpoint,
            pointer,
        };
        let received = self.wait_until(deadline, reception)?;
        if received == Err(Errno::WouldBlock) || received.is_ok() {
            return Ok(done(received));
        }
        self.blame(endpoint, received)
    }

    /// A guest that waits for a message while the contract says that it must send would wait for ever: that is
    /// its own mistake, and it is told.
    #[cold]
    fn blame(&self, endpoint: u32, received: Result<(), Errno>) -> Call {
        let mut table = self.process.table.lock();
        if received == Err(Errno::TimedOut)
            && let Ok(held) = table.endpoint(endpoint)
            && held.endpoint.may_send()
        {
            return Ok(Errno::Protocol.to_result());
        }
        Ok(done(received))
    }

    pub(super) fn wait_any(&self, pointer: u32, count: u32, deadline: u64) -> Call {
        let handles = match self.read_handles(pointer, count) {
            Ok(handles) => handles,
            Err(errno) => return Ok(errno.to_result()),
        };
        let ready = || {
            let mut table = self.process.table.lock();
            for (index, &handle) in handles.iter().enumerate() {
                if is_ready(&mut table, handle)? {
                    return Ok(index as u32);
                }
            }
            Err(Errno::WouldBlock)
        };
        let look = |waker: Option<&Waker>| match (ready(), waker) {
            (Err(Errno::WouldBlock), Some(waker)) => {
                self.each_event(&handles, |event| event.announce(waker));
                ready()
            }
            (done, _) => done,
        };
        Ok(value(self.wait_until(deadline, look)?))
    }

    fn read_handles(&self, pointer: u32, count: u32) -> Result<Vec<u32>, Errno> {
        if count == 0 || count > WAIT_MAX {
            return Err(Errno::Invalid);
        }
        let bytes = self.read_bytes(pointer, count * 4, 4 * WAIT_MAX as usize)?;
        Ok(bytes
            .chunks_exact(4)
            .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
            .collect())
    }

    fn each_event(&self, handles: &[u32], act: impl Fn(&crate::event::Event)) {
        let mut table = self.process.table.lock();
        for &handle in handles {
            match table.get_mut(handle) {
                Ok(Handle::Endpoint(held)) => act(held.endpoint.arrived()),
                Ok(Handle::Service(_, service)) => act(&service.arrived),
                _ => {}
            }
        }
    }

    pub(super) fn accept_client(&self, service: u32, out: u32, deadline: u64) -> Call {
        let found = self.process.table.lock().service(service);
        let service = match writable(&self.process, out, 4).and(found) {
            Ok(service) => service,
            Err(errno) => return Ok(errno.to_result()),
        };
        let next = || service.accept().ok_or(Errno::WouldBlock);
        let endpoint = match self.wait_event(deadline, &service.arrived, next)? {
            Ok(endpoint) => endpoint,
            Err(errno) => return Ok(errno.to_result()),
        };
        let mut table = self.process.table.lock();
        match table.insert(Handle::Endpoint(Held::new(endpoint))) {
            Ok(handle) => Ok(done(self.write_word(out, handle))),
            Err(refused) => {
                if let Handle::Endpoint(held) = refused {
                    service.put_back(held.endpoint);
                }
                Ok(Errno::LimitReached.to_result())
            }
        }
    }

    /// Closes what a handle named.
    pub(super) fn close_one(&self, handle: Handle) {
        if matches!(handle, Handle::Service(..)) {
            self.process.table.lock().names -= 1;
        }
        let reason = match self.process.is_dying() && self.process.fate() != ExitStatus::Code(0) {
            true => Errno::PeerDied,
            false => Errno::Closed,
        };
        self.satellite.close_handle(&self.process, handle, reason);
    }

    /// Puts an endpoint into the table and its number into guest memory.
    pub(super) fn hand_over(&self, endpoint: Box<crate::endpoint::Endpoint>, out: u32) -> Result<(), Errno> {
        let mut table = self.process.table.lock();
        let number = table
            .insert(Handle::Endpoint(Held::new(endpoint)))
            .map_err(|_| Errno::LimitReached)?;
        self.write_word(out, number)
    }
}

fn is_ready(table: &mut Table, handle: u32) -> Result<bool, Errno> {
    match table.get_mut(handle)? {
        Handle::Endpoint(held) => Ok(held.endpoint.is_ready()),
        Handle::Service(_, service) => Ok(service.is_ready()),
        Handle::Block(..) => Err(Errno::BadHandle),
    }
}
