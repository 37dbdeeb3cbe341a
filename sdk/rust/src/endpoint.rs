//! Endpoints and services, and how to come by them: `bind`, `register`, `channel`; and waiting on several.
//!
//! The functions here carry untyped [`Message`]s. A program rarely calls them: the endpoints that
//! [`contract!`](crate::contract) generates do, and let no wrong message compile. The kernel holds both
//! kinds to the contract.

use std::sync::Arc;

use crate::handle::Handle;
use crate::raw::{self, calls};
use crate::time::FOREVER;
use crate::wire::{Fixed, Place};
use crate::{Error, Message, ReceivedBuffer};

/// One end of a channel. Closes when it is dropped, and with it the last [`Pool`](crate::Pool) and
/// [`ReceivedBuffer`] of it; the peer still receives what was sent before.
#[derive(Debug)]
pub struct Endpoint {
    /// Shared with the pool and the received buffers of this endpoint, whose memory is mapped while it is
    /// open.
    handle: Arc<Handle>,
}

impl Endpoint {
    /// Takes over a kernel handle, which must be an endpoint's to be of any use.
    pub fn from_raw(handle: u32) -> Endpoint {
        Endpoint {
            handle: Arc::new(Handle::new(handle)),
        }
    }

    /// Gives up the handle, so that a message can carry it away.
    ///
    /// # Panics
    /// While a [`Pool`](crate::Pool) or a [`ReceivedBuffer`] of this endpoint exists: its memory would go too.
    pub fn into_raw(self) -> u32 {
        match Arc::try_unwrap(self.handle) {
            Ok(handle) => handle.release(),
            Err(_) => panic!("an endpoint was given away while buffers of its pool were in use"),
        }
    }

    /// Sends a message, and waits while the channel is full. On an error the message's handles still belong
    /// to the sender.
    pub fn send(&self, message: &mut Message) -> Result<(), Error> {
        self.send_until(message, FOREVER)
    }

    /// [`Endpoint::send`] with a deadline.
    pub fn send_until(&self, message: &mut Message, deadline: u64) -> Result<(), Error> {
        Ok(calls::send(self.number(), message, deadline)?)
    }

    /// Receives the next message.
    pub fn recv(&self, message: &mut Message) -> Result<(), Error> {
        self.recv_until(message, FOREVER)
    }

    /// [`Endpoint::recv`] with a deadline.
    pub fn recv_until(&self, message: &mut Message, deadline: u64) -> Result<(), Error> {
        Ok(calls::recv(self.number(), message, deadline)?)
    }

    /// Sends a message and receives the next one into the same place, in one kernel call.
    pub fn call(&self, message: &mut Message) -> Result<(), Error> {
        self.call_until(message, FOREVER)
    }

    /// [`Endpoint::call`] with a deadline for both halves together.
    pub fn call_until(&self, message: &mut Message, deadline: u64) -> Result<(), Error> {
        Ok(calls::call(self.number(), message, deadline)?)
    }

    /// [`Endpoint::recv`], into a place that need not hold anything yet.
    #[inline]
    pub(crate) fn recv_into<'m>(&self, place: &'m mut Place) -> Result<&'m mut Message, Error> {
        self.recv_into_until(place, FOREVER)
    }

    /// [`Endpoint::recv_into`] with a deadline.
    #[inline]
    pub(crate) fn recv_into_until<'m>(
        &self,
        place: &'m mut Place,
        deadline: u64,
    ) -> Result<&'m mut Message, Error> {
        Ok(calls::recv_into(self.number(), place, deadline)?)
    }

    /// [`Endpoint::send`], of a message whose size the contract fixes.
    #[inline]
    pub(crate) fn send_fixed<const N: usize, const H: usize>(
        &self,
        message: Fixed<N, H>,
    ) -> Result<(), Error> {
        Ok(calls::send_fixed(self.number(), message, FOREVER)?)
    }

    /// [`Endpoint::call`], with a message whose size the contract fixes.
    #[inline]
    pub(crate) fn call_fixed<'m, const N: usize, const H: usize>(
        &self,
        message: Fixed<N, H>,
        place: &'m mut Place,
    ) -> Result<&'m mut Message, Error> {
        Ok(calls::call_fixed(self.number(), message, place, FOREVER)?)
    }

    /// The pool buffer that arrived with a message received here.
    #[inline]
    pub(crate) fn claim_buffer(&self, message: &Message) -> Result<ReceivedBuffer, Error> {
        ReceivedBuffer::claim(self.handle.clone(), message)
    }

    pub(crate) fn handle(&self) -> &Arc<Handle> {
        &self.handle
    }

    #[inline]
    fn number(&self) -> u32 {
        self.handle.number()
    }
}

/// A registered name, where clients arrive. The name vanishes when this is dropped.
#[derive(Debug)]
pub struct Service {
    handle: Handle,
}

impl Service {
    /// Registers `path`, which the manifest must list under `registers`, for a contract.
    pub fn register(path: &str, contract: &[u8; 32]) -> Result<Service, Error> {
        let handle = calls::register(path, contract).map_err(refused("register", path))?;
        Ok(Service {
            handle: Handle::new(handle),
        })
    }

    /// Waits for the next client: the service's end of a new channel.
    pub fn accept(&self) -> Result<Endpoint, Error> {
        self.accept_until(FOREVER)
    }

    /// [`Service::accept`] with a deadline.
    pub fn accept_until(&self, deadline: u64) -> Result<Endpoint, Error> {
        Ok(Endpoint::from_raw(calls::accept(self.handle.number(), deadline)?))
    }
}

/// Connects to a service, waiting until it is there. `name` is one of the manifest's `channels` or, where
/// the process may bind freely, an absolute path.
pub fn bind(name: &str, contract: &[u8; 32]) -> Result<Endpoint, Error> {
    bind_until(name, contract, FOREVER)
}

/// [`bind`] with a deadline.
pub fn bind_until(name: &str, contract: &[u8; 32], deadline: u64) -> Result<Endpoint, Error> {
    let handle = calls::bind(name, contract, deadline).map_err(refused("bind", name))?;
    Ok(Endpoint::from_raw(handle))
}

/// A channel whose two ends this process holds, the client's first. One of them is usually sent away.
pub fn channel(contract: &[u8; 32]) -> Result<(Endpoint, Endpoint), Error> {
    let [client, service] = calls::channel(contract)?;
    Ok((Endpoint::from_raw(client), Endpoint::from_raw(service)))
}

/// The registered names that start with `prefix`.
pub fn list(prefix: &str) -> Result<Vec<String>, Error> {
    let mut bytes = Vec::new();
    loop {
        let needed = calls::list(prefix, &mut bytes)?;
        if needed <= bytes.len() {
            bytes.truncate(needed);
            return Ok(raw::strings(&bytes));
        }
        // The namespace may have grown between the two calls; each try asks for what the last one needed.
        bytes.resize(needed, 0);
    }
}

/// Something that [`wait`] can wait for.
pub trait Source {
    /// The kernel handle.
    fn handle(&self) -> u32;
}

impl Source for Endpoint {
    fn handle(&self) -> u32 {
        self.number()
    }
}

impl Source for Service {
    fn handle(&self) -> u32 {
        self.handle.number()
    }
}

/// Waits until one of the sources has a message or a client, or is closed, and returns its index: the lowest
/// if several are ready, so a fair loop rotates its sources.
pub fn wait(sources: &[&dyn Source]) -> Result<usize, Error> {
    wait_until(sources, FOREVER)
}

/// [`wait`] with a deadline.
pub fn wait_until(sources: &[&dyn Source], deadline: u64) -> Result<usize, Error> {
    let handles: Vec<u32> = sources.iter().map(|source| source.handle()).collect();
    Ok(calls::wait(&handles, deadline)?)
}

/// Adds the name to a refusal, so that the message says what could not be found.
fn refused(action: &'static str, name: &str) -> impl FnOnce(satrap_abi::Errno) -> Error {
    move |errno| Error::Name {
        action,
        name: name.to_owned(),
        errno,
    }
}
