//! One listener: opens a port and hands out connections (`satrap:net/tcp`).
//!
//! A listener ends when its client closes the channel, and takes its port with it; clients beyond the limit
//! wait in the host's queue. `mod.rs` registers the service, `connection.rs` serves what is accepted.

use super::{
    Shared,
    connection::Connection,
    messages::tcp::{self as messages, Reach, Request},
    reactor::{Interest, Watch},
    wait::{Attempt, until_done},
};
use crate::platform::Hosted;
use satrap_abi::Errno;
use satrap_kernel::{Endpoint, Message, Satellite, channel};
use std::{
    io,
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

/// Most connections that are open at a time.
const CONNECTIONS_MAX: usize = 1024;
/// Connections that the host keeps for us until they are accepted.
const BACKLOG: i32 = 1024;

/// A listener and its client.
pub(super) struct Listener {
    pub(super) client: Box<Endpoint>,
    pub(super) satellite: Arc<Satellite<Hosted>>,
    pub(super) shared: Arc<Shared>,
}

impl Listener {
    /// Serves until the client closes its end, and the port with it.
    pub(super) async fn serve(mut self) {
        let mut socket = None;
        let reason = loop {
            let answered = match self.client.recv().await {
                Ok(request) => self.answer(request, &mut socket).await,
                Err(_) => break Errno::Closed,
            };
            if let Err(errno) = answered {
                break errno;
            }
        };
        drop(socket);
        self.client.close(reason);
    }

    async fn answer(
        &mut self,
        request: Message,
        socket: &mut Option<Watch<TcpListener>>,
    ) -> Result<(), Errno> {
        let reply = match (Request::decode(request, &self.shared.heap)?, socket) {
            (Request::Listen { port, reach }, socket) => match self.listen(port, reach) {
                Ok((port, opened)) => {
                    *socket = Some(opened);
                    messages::listening(port, &self.shared.heap)?
                }
                Err(error) => messages::failed(&error.to_string(), &self.shared.heap)?,
            },
            (Request::Accept, Some(socket)) => self.accept(socket).await?,
            // The contract has `listen` first.
            (Request::Accept, None) => return Err(Errno::Protocol),
        };
        self.client.send(reply).await
    }

    fn listen(&self, port: u16, reach: Reach) -> io::Result<(u16, Watch<TcpListener>)> {
        let address = match reach {
            Reach::Machine => Ipv4Addr::LOCALHOST,
            Reach::Network => Ipv4Addr::UNSPECIFIED,
        };
        let listener = TcpListener::bind((address, port))?;
        rustix::net::listen(&listener, BACKLOG)?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        Ok((port, Watch::new(&self.shared.reactor, listener)?))
    }

    async fn accept(&mut self, listener: &Watch<TcpListener>) -> Result<Message, Errno> {
        let attempt = || -> Attempt<(TcpStream, SocketAddr)> {
            match listener.file().accept() {
                // This one was gone before its turn came.
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => Ok(None),
                accepted => accepted.map(Some),
            }
        };
        let accepted = until_done(&mut self.client, listener, Interest::Readable, attempt).await?;
        match accepted.and_then(|(stream, peer)| Ok((self.admit(stream)?, peer))) {
            Ok((client, peer)) => messages::accepted(client, &peer.to_string(), &self.shared.heap),
            Err(error) => messages::exhausted(&error.to_string(), &self.shared.heap),
        }
    }

    /// Starts serving a connection; its client's end is for whoever asked.
    fn admit(&self, stream: TcpStream) -> io::Result<Box<Endpoint>> {
        let place = Place::take(&self.shared)
            .ok_or_else(|| io::Error::other(format!("{CONNECTIONS_MAX} connections are open already")))?;
        stream.set_nonblocking(true)?;
        // Answers are written whole: waiting for more to send would only delay them.
        stream.set_nodelay(true)?;
        let socket = Watch::new(&self.shared.reactor, stream)?;
        let (client, service) = channel(&self.shared.connection);
        let connection = Connection {
            client: service.named("/net/tcp"),
            socket,
            shared: self.shared.clone(),
        };
        self.satellite.spawn_task(Box::pin(async move {
            connection.serve().await;
            drop(place);
        }));
        Ok(client)
    }
}

/// A place among the open connections; given back when it is dropped.
struct Place(Arc<Shared>);

impl Place {
    fn take(shared: &Arc<Shared>) -> Option<Place> {
        let open: &AtomicUsize = &shared.open;
        let add = |open: usize| (open < CONNECTIONS_MAX).then_some(open + 1);
        open.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add)
            .ok()?;
        Some(Place(shared.clone()))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}
