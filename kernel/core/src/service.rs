//! A service: a name in the namespace behind which clients' channels arrive.
//!
//! The queue of clients that wait to be accepted is bounded, and a full one refuses the next.
//! `calls/namespace.rs` registers services, `calls/channel.rs` accepts from them.

use crate::{endpoint::Endpoint, event::Event};
use alloc::{boxed::Box, collections::VecDeque, string::String, sync::Arc};
use satrap_abi::Errno;
use satrap_sync::{AtomicBool, Ordering, SpinLock};
use satrap_table::Table;

/// Clients that may wait to be accepted.
const BACKLOG_MAX: usize = 1024;

/// A registered service.
pub(crate) struct Service {
    pub(crate) path: String,
    pub(crate) contract: Arc<Table>,
    backlog: SpinLock<VecDeque<Box<Endpoint>>>,
    closed: AtomicBool,
    /// Signalled when a client has come.
    pub(crate) arrived: Event,
}

impl Service {
    pub(crate) fn new(path: &str, contract: Arc<Table>) -> Arc<Service> {
        Arc::new(Service {
            path: String::from(path),
            contract,
            backlog: SpinLock::default(),
            closed: AtomicBool::new(false),
            arrived: Event::default(),
        })
    }

    /// A client's channel has been made; its service end waits to be accepted.
    pub(crate) fn offer(&self, endpoint: Box<Endpoint>) -> Result<(), Errno> {
        let mut backlog = self.backlog.lock();
        if self.closed.load(Ordering::Acquire) {
            return Err(Errno::NotFound);
        }
        if backlog.len() >= BACKLOG_MAX {
            return Err(Errno::LimitReached);
        }
        backlog.push_back(endpoint);
        drop(backlog);
        self.arrived.signal();
        Ok(())
    }

    /// Takes the client that waits longest.
    pub(crate) fn accept(&self) -> Option<Box<Endpoint>> {
        self.backlog.lock().pop_front()
    }

    /// Puts a client back that could not be handed over.
    pub(crate) fn put_back(&self, endpoint: Box<Endpoint>) {
        self.backlog.lock().push_front(endpoint);
    }

    /// Whether a client waits.
    pub(crate) fn is_ready(&self) -> bool {
        !self.backlog.lock().is_empty()
    }

    /// Nobody is accepted any more; those who wait see the channel close.
    pub(crate) fn close(&self) {
        let mut backlog = self.backlog.lock();
        self.closed.store(true, Ordering::Release);
        let waiting = core::mem::take(&mut *backlog);
        drop(backlog);
        drop(waiting);
    }
}
