//! One connection: requests in, answers out, streams in chunks of one JSON line each.
//!
//! The peer's user is checked first. A client that leaves ends what is attached to it.

use super::request;
use crate::{
    api::{ApiError, Call, Control, Event, Flow},
    service::Service,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::Value;
use std::{
    io::{self, Write},
    os::unix::net::UnixStream,
    time::Duration,
};

/// How long a client may be silent between requests, or refuse to read.
const PATIENCE: Duration = Duration::from_secs(30);

/// Serves a connection until its client leaves.
pub(super) fn serve(service: &Service, stream: &UnixStream) -> io::Result<()> {
    if !is_ours(stream)? {
        let denied = ApiError::new(403, "the control API is for the coordinator's owner only");
        return refuse(&mut &*stream, &denied, false);
    }
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut pending = Vec::new();
    loop {
        let request = match request::read(&mut &*stream, &mut pending) {
            Ok(Some(request)) => request,
            Ok(None) => return Ok(()),
            Err(error) => return refuse(&mut &*stream, &error, false),
        };
        match Call::parse(&request.method, &request.target, &request.body) {
            Ok(call) => answer(service, stream, call, request.keep_alive)?,
            Err(error) => refuse(&mut &*stream, &error, request.keep_alive)?,
        }
        if !request.keep_alive {
            return Ok(());
        }
    }
}

/// Whether the other end has the coordinator's user, or root's.
fn is_ours(stream: &UnixStream) -> io::Result<bool> {
    let peer = rustix::net::sockopt::socket_peercred(stream)?;
    Ok(peer.uid == rustix::process::geteuid() || peer.uid.is_root())
}

fn answer(service: &Service, stream: &UnixStream, call: Call, keep_alive: bool) -> io::Result<()> {
    let mut out = Answer {
        stream,
        streams: call.streams(),
        keep_alive,
        begun: false,
        broken: None,
    };
    let result = service.exchange(call, &mut |value| out.take(&value));
    if let Some(error) = out.broken {
        return Err(error);
    }
    match result {
        Ok(()) if out.streams => out.end(),
        Ok(()) => Ok(()),
        Err(error) if out.begun => {
            let failed = Event::Failed { error: error.error };
            out.line(&serde_json::to_value(failed)?)?;
            out.end()
        }
        Err(error) => refuse(&mut &*stream, &error, keep_alive),
    }
}

struct Answer<'a> {
    stream: &'a UnixStream,
    streams: bool,
    keep_alive: bool,
    /// Whether the head of a stream was sent.
    begun: bool,
    broken: Option<io::Error>,
}

impl Answer<'_> {
    /// Sends a value. A client that has left is noticed even while there is nothing to send.
    fn take(&mut self, value: &Value) -> Flow {
        let sent = match (value, self.streams) {
            (Value::Null, _) => match is_gone(self.stream) {
                false => Ok(()),
                true => Err(io::ErrorKind::BrokenPipe.into()),
            },
            (value, true) => self.line(value),
            (value, false) => respond(&mut self.stream, 200, self.keep_alive, value),
        };
        match sent {
            Ok(()) => Flow::Continue,
            Err(error) => {
                self.broken = Some(error);
                Flow::Stop
            }
        }
    }

    /// Sends one line of a stream as one chunk.
    fn line(&mut self, value: &Value) -> io::Result<()> {
        self.begin()?;
        let mut line = serde_json::to_vec(value)?;
        line.push(b'\n');
        let mut chunk = format!("{:x}\r\n", line.len()).into_bytes();
        chunk.append(&mut line);
        chunk.extend_from_slice(b"\r\n");
        self.stream.write_all(&chunk)
    }

    fn begin(&mut self) -> io::Result<()> {
        if self.begun {
            return Ok(());
        }
        self.begun = true;
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n{}\r\n",
            connection(self.keep_alive)
        );
        self.stream.write_all(head.as_bytes())
    }

    fn end(&mut self) -> io::Result<()> {
        self.begin()?;
        self.stream.write_all(b"0\r\n\r\n")
    }
}

/// Whether the client has closed its end.
fn is_gone(stream: &UnixStream) -> bool {
    let mut places = [PollFd::new(stream, PollFlags::RDHUP)];
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let gone = PollFlags::RDHUP | PollFlags::HUP | PollFlags::ERR;
    poll(&mut places, Some(&now)).is_ok() && places[0].revents().intersects(gone)
}

fn refuse(stream: &mut impl Write, error: &ApiError, keep_alive: bool) -> io::Result<()> {
    respond(stream, error.status, keep_alive, &serde_json::to_value(error)?)
}

fn respond(stream: &mut impl Write, status: u16, keep_alive: bool, value: &Value) -> io::Result<()> {
    let body = serde_json::to_vec(value)?;
    let head = format!(
        "HTTP/1.1 {status} {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n{}\r\n",
        reason(status),
        body.len(),
        connection(keep_alive)
    );
    stream.write_all(&[head.as_bytes(), &body].concat())
}

const fn connection(keep_alive: bool) -> &'static str {
    if keep_alive { "" } else { "Connection: close\r\n" }
}

const fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        409 => "Conflict",
        411 => "Length Required",
        413 => "Content Too Large",
        422 => "Unprocessable Content",
        431 => "Request Header Fields Too Large",
        503 => "Service Unavailable",
        _ => "Error",
    }
}
