//! TCP for the machine's satellites, at `/net/tcp`, by the host's own sockets.
//!
//! A native driver: kernel tasks that serve the contracts of `services/net/net.wit`, as a network stack on a NIC
//! would. One satellite serves the name. Start at `listener`, then `connection`; `reactor` is the one thread
//! beside the CPUs, `wire` and `messages` the encoding.

mod connection;
mod listener;
mod messages;
mod reactor;
mod socket;
mod wait;
mod wire;
#[cfg(test)]
mod wire_tests;

use crate::platform::Hosted;
use listener::Listener;
use reactor::Reactor;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use satrap_abi::{Errno, KernelId};
use satrap_kernel::{DriverService, Endpoint, ExchangeHeap, Satellite};
use satrap_table::Table;
use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};

/// Where the driver is found.
const PATH: &str = "/net/tcp";
/// The satellite that serves it.
const SERVER: KernelId = KernelId(1);
/// Most listeners at a time.
const LISTENERS_MAX: usize = 64;

/// What listeners and connections share.
struct Shared {
    heap: Arc<ExchangeHeap>,
    reactor: Arc<Reactor>,
    /// The contract of connections.
    connection: Arc<Table>,
    /// Open connections.
    open: AtomicUsize,
    /// Live listeners.
    listeners: AtomicUsize,
    /// Bytes that `receive`s wait for.
    receiving: AtomicU64,
}

/// Starts the driver on the satellite that serves it.
pub(crate) fn start(satellite: &Arc<Satellite<Hosted>>, kernel: KernelId) {
    if kernel == SERVER {
        let server = satellite.clone();
        satellite.spawn_task(Box::pin(async move {
            if let Err(error) = serve(&server).await {
                eprintln!("satrap-hosted: there is no {PATH}: {error}");
            }
        }));
    }
}

async fn serve(satellite: &Arc<Satellite<Hosted>>) -> io::Result<()> {
    let tcp = satellite.learn(table(messages::TCP)?);
    let connection = satellite.learn(table(messages::CONNECTION)?);
    let service = DriverService::register(satellite, PATH, tcp).await;
    let service = service.map_err(io::Error::other)?;
    // A satellite whose programs use no network has no thread for it: it starts with the first client.
    let first = service.accept().await;
    allow_files();
    let shared = Arc::new(Shared {
        heap: satellite.heap().clone(),
        reactor: Reactor::start()?,
        connection,
        open: AtomicUsize::new(0),
        listeners: AtomicUsize::new(0),
        receiving: AtomicU64::new(0),
    });
    admit(satellite, &shared, first);
    loop {
        admit(satellite, &shared, service.accept().await);
    }
}

fn table(bytes: &[u8]) -> io::Result<Table> {
    Table::parse(bytes).map_err(|error| io::Error::other(error.to_string()))
}

fn admit(satellite: &Arc<Satellite<Hosted>>, shared: &Arc<Shared>, client: Box<Endpoint>) {
    if shared.listeners.load(Ordering::Relaxed) >= LISTENERS_MAX {
        client.close(Errno::LimitReached);
        return;
    }
    shared.listeners.fetch_add(1, Ordering::Relaxed);
    let listener = Listener {
        client,
        satellite: satellite.clone(),
        shared: shared.clone(),
    };
    let shared = shared.clone();
    satellite.spawn_task(Box::pin(async move {
        listener.serve().await;
        shared.listeners.fetch_sub(1, Ordering::Relaxed);
    }));
}

/// A socket is a file, and the usual soft limit is lower than the limit on connections.
fn allow_files() {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    // Where it is refused, `exhausted` tells when files run out.
    let _ = setrlimit(Resource::Nofile, raised);
}
