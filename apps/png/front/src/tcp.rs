//! Listener and connections as `/net/tcp` serves them (`services/net/net.wit`).
//!
//! Every wait for a client has a deadline, so that a silent one does not hold a thread for ever. Neighbour:
//! `serve` drives a [`Connection`] as a [`Stream`].

use std::time::Duration;

use satrap::{Block, Error, eprintln, time};

use crate::net::connection::client::WritingMessage;
use crate::net::connection::client::{ReadingMessage, ReceivingMessage, Start};
use crate::net::tcp::client::{AcceptingReply, OpeningMessage, Ready};
use crate::net::tcp::{Client, Reach};
use crate::serve::{Gone, Stream};

/// How long a client may be silent: between requests, and before the next bytes of one.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long a client may take for a whole body.
const BODY_PATIENCE: Duration = Duration::from_secs(120);

/// Most bytes of one read: enough for any head, and for a small picture with it.
const READ_MAX: u32 = 64 << 10;

/// Where connections arrive.
pub struct Listener {
    tcp: Ready,
    port: u16,
}

impl Listener {
    /// Listens on a port; 0 lets the system choose.
    pub fn open(port: u16, reach: Reach) -> Result<Listener, String> {
        let tcp = Client::bind("net").map_err(|error| error.to_string())?;
        match tcp
            .send_listen_and_recv(port, reach)
            .map_err(|error| error.to_string())?
        {
            OpeningMessage::Listening { port, next } => Ok(Listener { tcp: next, port }),
            OpeningMessage::Failed { reason, .. } => Err(format!("cannot listen on port {port}: {reason}")),
        }
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Waits for the next connection.
    pub fn accept(&mut self) -> Result<Connection, String> {
        loop {
            match self
                .tcp
                .accept()
                .map_err(|error| format!("the network is gone: {error}"))?
            {
                AcceptingReply::Accepted { connection, .. } => {
                    return Ok(Connection {
                        tcp: Some(connection),
                    });
                }
                AcceptingReply::Exhausted { reason } => eprintln!("a connection is refused: {reason}"),
            }
        }
    }
}

/// One client. Closed when it is dropped.
pub struct Connection {
    /// `None` once the connection is of no more use.
    tcp: Option<Start>,
}

impl Connection {
    fn take(&mut self) -> Result<Start, Gone> {
        self.tcp.take().ok_or(Gone)
    }
}

impl From<Error> for Gone {
    fn from(_: Error) -> Gone {
        Gone
    }
}

impl Stream for Connection {
    type Body = Block;

    fn read(&mut self) -> Result<Vec<u8>, Gone> {
        let reading = self.take()?.send_read(READ_MAX)?;
        // An inner error is the state coming back because time is up; the connection goes with it.
        match reading.recv_until(time::after(PATIENCE))?.map_err(|_| Gone)? {
            ReadingMessage::Data { bytes, next } => {
                self.tcp = Some(next);
                Ok(bytes.into_vec()?)
            }
            ReadingMessage::Finished { .. } => Ok(Vec::new()),
            ReadingMessage::Failed { .. } => Err(Gone),
        }
    }

    /// The rest of a large body goes from the socket straight into the block that the decoder will get; what
    /// came with the head is put before it.
    fn body(&mut self, start: &[u8], length: u64) -> Result<Block, Gone> {
        let total = usize::try_from(length).map_err(|_| Gone)?;
        if start.len() == total {
            return Ok(Block::from_bytes(start)?);
        }
        // Both fit: the length was checked against a bound far below 4 GiB.
        let receiving = self
            .take()?
            .send_receive(start.len() as u32, (total - start.len()) as u32)?;
        match receiving
            .recv_until(time::after(BODY_PATIENCE))?
            .map_err(|_| Gone)?
        {
            ReceivingMessage::Received { mut bytes, next } => {
                self.tcp = Some(next);
                if !start.is_empty() {
                    bytes.write(0, start)?;
                }
                Ok(bytes)
            }
            ReceivingMessage::Finished { .. } | ReceivingMessage::Failed { .. } => Err(Gone),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Gone> {
        let writing = self.take()?.send_write(bytes)?;
        match writing.recv_until(time::after(PATIENCE))?.map_err(|_| Gone)? {
            WritingMessage::Written { next, .. } => {
                self.tcp = Some(next);
                Ok(())
            }
            WritingMessage::Failed { .. } => Err(Gone),
        }
    }
}
