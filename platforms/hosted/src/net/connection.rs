//! One TCP connection: answers its client's requests in order (`satrap:net/connection`).
//!
//! A task of its own, so that a slow peer holds up nobody else. `receive` has the host write into the block
//! that the client gets, and `write` has it read where the bytes lie (DESIGN §5: payload is moved, not copied).

use super::{
    Shared,
    messages::connection::{self as messages, Request},
    reactor::{Interest, Watch},
    socket,
    wait::{Attempt, until_done},
    wire::Bytes,
};
use satrap_abi::{Errno, limits::BLOCK_MAX};
use satrap_kernel::{Block, Endpoint, Message};
use std::{
    io::{self, Read, Write},
    net::{Shutdown, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

/// Most bytes of one `read`. They are copied once more, out of a buffer on the stack: their number is known only
/// afterwards.
const READ_MAX: usize = 64 << 10;
/// Most bytes that all `receive`s wait for together. More would let slow peers hold the exchange heap.
const RECEIVING_MAX: u64 = 256 << 20;
/// Most bytes that are read away when a connection closes; unread ones would make the host reset it, and the
/// reset can overtake what was sent last.
const DISCARD_MAX: usize = 1 << 20;

/// A connection and its client.
pub(super) struct Connection {
    pub(super) client: Box<Endpoint>,
    pub(super) socket: Watch<TcpStream>,
    pub(super) shared: Arc<Shared>,
}

impl Connection {
    /// Serves until the client closes its end.
    pub(super) async fn serve(mut self) {
        let mut broken = None;
        let reason = loop {
            let answered = match self.client.recv().await {
                Ok(request) => self.answer(request, &mut broken).await,
                Err(_) => break Errno::Closed,
            };
            if let Err(errno) = answered {
                break errno;
            }
        };
        self.hang_up();
        self.client.close(reason);
    }

    async fn answer(&mut self, request: Message, broken: &mut Option<String>) -> Result<(), Errno> {
        let request = Request::decode(request, &self.shared.heap)?;
        if matches!(request, Request::Shutdown) {
            // It fails only when the connection is broken, which the next request tells.
            let _ = self.socket.file().shutdown(Shutdown::Write);
            return Ok(());
        }
        let reply = match broken {
            Some(reason) => messages::failed(reason, &self.shared.heap)?,
            None => match self.perform(request).await? {
                Ok(reply) => reply,
                Err(error) => messages::failed(broken.insert(error.to_string()), &self.shared.heap)?,
            },
        };
        self.client.send(reply).await
    }

    /// The outer error is the client's end or a lack of memory, the inner one the connection's.
    async fn perform(&mut self, request: Request) -> Result<io::Result<Message>, Errno> {
        match request {
            Request::Read { max } => self.read(max as usize).await,
            Request::Receive { space, length } => self.receive(space, length).await,
            Request::Write { bytes } => self.write(bytes).await,
            // It has no answer.
            Request::Shutdown => Err(Errno::Protocol),
        }
    }

    async fn read(&mut self, max: usize) -> Result<io::Result<Message>, Errno> {
        let (socket, heap) = (&self.socket, &self.shared.heap);
        let attempt = || -> Attempt<Result<Message, Errno>> {
            let mut buffer = [0; READ_MAX];
            let count = socket.file().read(&mut buffer[..max.clamp(1, READ_MAX)])?;
            Ok(Some(match count {
                0 => messages::finished(heap),
                count => messages::data(&buffer[..count], heap),
            }))
        };
        Ok(Ok(
            match until_done(&mut self.client, socket, Interest::Readable, attempt).await? {
                Ok(message) => message?,
                Err(error) => return Ok(Err(error)),
            },
        ))
    }

    async fn receive(&mut self, space: u32, length: u32) -> Result<io::Result<Message>, Errno> {
        let total = match space.checked_add(length) {
            Some(total) if length > 0 && total <= BLOCK_MAX => total,
            _ => return Ok(Err(io::Error::other("a block cannot hold so much"))),
        };
        let Some(_share) = Share::take(&self.shared.receiving, total.into()) else {
            return Ok(Err(io::Error::other("too many bytes are being received")));
        };
        let block = match space_for(&self.shared, space, total) {
            Ok(block) => block,
            Err(errno) => return Ok(Err(io::Error::other(errno.to_string()))),
        };
        let (socket, mut filled) = (&self.socket, space);
        let attempt = || -> Attempt<bool> {
            let rest = block.region(filled, total - filled).map_err(io::Error::other)?;
            let count = socket::receive(socket.file(), &rest)?;
            // No more than fits into `rest`.
            filled += count as u32;
            Ok((count == 0 || filled == total).then_some(filled == total))
        };
        match until_done(&mut self.client, socket, Interest::Readable, attempt).await? {
            Ok(true) => messages::received(block, &self.shared.heap).map(Ok),
            Ok(false) => messages::finished(&self.shared.heap).map(Ok),
            Err(error) => Ok(Err(error)),
        }
    }

    async fn write(&mut self, bytes: Bytes) -> Result<io::Result<Message>, Errno> {
        let (socket, len) = (&self.socket, bytes.len());
        let mut sent = 0;
        let attempt = || -> Attempt<()> {
            if sent < len {
                sent += send(socket.file(), &bytes, sent)?;
            }
            Ok((sent == len).then_some(()))
        };
        match until_done(&mut self.client, socket, Interest::Writable, attempt).await? {
            // A message carries at most a block.
            Ok(()) => messages::written(len as u32, &self.shared.heap).map(Ok),
            Err(error) => Ok(Err(error)),
        }
    }

    /// All that was written is in the host's hands and will be sent; the peer sees the end after it.
    fn hang_up(&self) {
        let mut socket = self.socket.file();
        let _ = socket.shutdown(Shutdown::Write);
        let (mut discarded, mut buffer) = (0, [0; READ_MAX]);
        while let Ok(count @ 1..) = socket.read(&mut buffer) {
            discarded += count;
            if discarded >= DISCARD_MAX {
                break;
            }
        }
    }
}

/// A block of `total` bytes, to be filled from `space` on. What is before shows nothing of an earlier owner.
fn space_for(shared: &Shared, space: u32, total: u32) -> Result<Block, Errno> {
    let block = shared.heap.alloc_for_overwrite(total)?;
    // A part of a block that was just allocated is within it.
    let zeroed = block.region(0, space)?.fill(0, space as usize, 0);
    zeroed.map_err(|_| Errno::Invalid)?;
    Ok(block)
}

fn send(mut socket: &TcpStream, bytes: &Bytes, from: usize) -> io::Result<usize> {
    match bytes {
        Bytes::Inline(bytes, start, len) => socket.write(&bytes[start + from..start + len]),
        Bytes::Block(block, offset, len) => {
            // `from` is less than the length, which is a `u32`.
            let from = from as u32;
            let rest = block
                .region(offset + from, len - from)
                .map_err(io::Error::other)?;
            socket::send(socket, &rest)
        }
    }
}

/// A share of what all connections may receive at a time; given back when it is dropped.
struct Share<'a>(&'a AtomicU64, u64);

impl<'a> Share<'a> {
    fn take(receiving: &'a AtomicU64, bytes: u64) -> Option<Share<'a>> {
        let add = |taken: u64| Some(taken + bytes).filter(|&taken| taken <= RECEIVING_MAX);
        receiving
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, add)
            .ok()?;
        Some(Share(receiving, bytes))
    }
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(self.1, Ordering::Relaxed);
    }
}
