//! The client: the same calls, made over the socket.
//!
//! It believes nothing that it reads: heads, chunks and values are bounded and checked.

use super::{FIELDS_MAX, HEAD_MAX, VALUE_MAX, chunked::Chunked};
use crate::api::{ApiError, Call, Control, Flow};
use serde_json::Value;
use std::{
    fmt,
    io::{self, ErrorKind, Read, Write},
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    time::Duration,
};

/// How long a stream is silent before its receiver is asked whether it still listens.
const HEARTBEAT: Duration = Duration::from_millis(100);

/// A coordinator behind a socket. Each call opens a connection of its own.
#[derive(Clone, Debug)]
pub struct Client {
    socket: PathBuf,
}

/// Why there is no coordinator to talk to.
#[derive(Debug)]
pub enum ConnectError {
    /// Nobody serves the socket.
    NotRunning(PathBuf),
    /// It is there, but may not or cannot be used.
    Io(PathBuf, io::Error),
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConnectError::NotRunning(socket) => {
                write!(
                    f,
                    "no coordinator runs on {}; start one with `satrap up`",
                    socket.display()
                )
            }
            ConnectError::Io(socket, error) => write!(f, "cannot connect to {}: {error}", socket.display()),
        }
    }
}

impl std::error::Error for ConnectError {}

impl Client {
    /// A client of the coordinator on that socket, which must be running.
    pub fn connect(socket: &Path) -> Result<Client, ConnectError> {
        let client = Client {
            socket: socket.to_owned(),
        };
        client.open().map(|_| client)
    }

    fn open(&self) -> Result<UnixStream, ConnectError> {
        UnixStream::connect(&self.socket).map_err(|error| match error.kind() {
            ErrorKind::NotFound | ErrorKind::ConnectionRefused => {
                ConnectError::NotRunning(self.socket.clone())
            }
            _ => ConnectError::Io(self.socket.clone(), error),
        })
    }
}

impl Control for Client {
    fn exchange(&self, call: Call, sink: &mut dyn FnMut(Value) -> Flow) -> Result<(), ApiError> {
        let stream = self.open().map_err(|error| ApiError::new(0, error.to_string()))?;
        send(&stream, &call)?;
        stream.set_read_timeout(Some(HEARTBEAT)).map_err(lost)?;
        let mut inbox = Inbox {
            stream,
            buffer: Vec::new(),
        };
        let Some(head) = inbox.head(sink)? else {
            return Ok(());
        };
        if head.chunked {
            return inbox.lines(sink);
        }
        let Some(value) = inbox.value(head.length, sink)? else {
            return Ok(());
        };
        if head.status == 200 {
            sink(value);
            return Ok(());
        }
        let reason = value
            .get("error")
            .and_then(Value::as_str)
            .unwrap_or("no reason given");
        Err(ApiError::new(head.status, reason))
    }
}

fn send(mut stream: &UnixStream, call: &Call) -> Result<(), ApiError> {
    let (method, target, body) = call.encode()?;
    let head = format!(
        "{} {target} HTTP/1.1\r\nHost: satrap\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n",
        method.as_str(),
        body.len()
    );
    stream.write_all(&[head.as_bytes(), &body].concat()).map_err(lost)
}

struct Head {
    status: u16,
    chunked: bool,
    length: usize,
}

/// What came and was not looked at yet.
struct Inbox {
    stream: UnixStream,
    buffer: Vec<u8>,
}

/// Whether to go on reading.
enum More {
    Came,
    Ended,
    Unwanted,
}

impl Inbox {
    /// Reads what comes next. The receiver is asked whether it still listens while nothing comes.
    fn more(&mut self, sink: &mut dyn FnMut(Value) -> Flow) -> Result<More, ApiError> {
        let mut piece = vec![0; 64 << 10];
        loop {
            match self.stream.read(&mut piece) {
                Ok(0) => return Ok(More::Ended),
                Ok(length) => {
                    self.buffer.extend_from_slice(&piece[..length]);
                    return Ok(More::Came);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    if sink(Value::Null) == Flow::Stop {
                        return Ok(More::Unwanted);
                    }
                }
                Err(error) => return Err(lost(error)),
            }
        }
    }

    fn head(&mut self, sink: &mut dyn FnMut(Value) -> Flow) -> Result<Option<Head>, ApiError> {
        loop {
            if let Some((head, length)) = parse(&self.buffer)? {
                self.buffer.drain(..length);
                return Ok(Some(head));
            }
            if self.buffer.len() > HEAD_MAX {
                return Err(not_understood());
            }
            match self.more(sink)? {
                More::Came => {}
                More::Ended => return Err(closed()),
                More::Unwanted => return Ok(None),
            }
        }
    }

    fn value(
        &mut self,
        length: usize,
        sink: &mut dyn FnMut(Value) -> Flow,
    ) -> Result<Option<Value>, ApiError> {
        if length > VALUE_MAX {
            return Err(not_understood());
        }
        while self.buffer.len() < length {
            match self.more(sink)? {
                More::Came => {}
                More::Ended => return Err(closed()),
                More::Unwanted => return Ok(None),
            }
        }
        let value = serde_json::from_slice(&self.buffer[..length]).map_err(|_| not_understood())?;
        Ok(Some(value))
    }

    /// Hands on a stream, line by line.
    fn lines(&mut self, sink: &mut dyn FnMut(Value) -> Flow) -> Result<(), ApiError> {
        let mut chunked = Chunked::default();
        let mut body = Vec::new();
        loop {
            chunked
                .feed(&self.buffer, &mut body)
                .map_err(|_| not_understood())?;
            self.buffer.clear();
            while let Some(end) = body.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = body.drain(..=end).collect();
                let value = serde_json::from_slice(&line).map_err(|_| not_understood())?;
                if sink(value) == Flow::Stop {
                    return Ok(());
                }
            }
            if chunked.is_over() {
                return Ok(());
            }
            if body.len() > VALUE_MAX {
                return Err(not_understood());
            }
            match self.more(sink)? {
                More::Came => {}
                More::Ended => return Err(closed()),
                More::Unwanted => return Ok(()),
            }
        }
    }
}

/// The head of an answer and its length, if all of it is there.
fn parse(bytes: &[u8]) -> Result<Option<(Head, usize)>, ApiError> {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
    let mut parsed = httparse::Response::new(&mut fields);
    let httparse::Status::Complete(length) = parsed.parse(bytes).map_err(|_| not_understood())? else {
        return Ok(None);
    };
    let field = |name: &str| {
        let named = parsed
            .headers
            .iter()
            .find(|field| field.name.eq_ignore_ascii_case(name));
        named.and_then(|field| std::str::from_utf8(field.value).ok())
    };
    let head = Head {
        status: parsed.code.unwrap_or(0),
        chunked: field("transfer-encoding") == Some("chunked"),
        length: field("content-length")
            .and_then(|text| text.parse().ok())
            .unwrap_or(0),
    };
    Ok(Some((head, length)))
}

fn lost(error: io::Error) -> ApiError {
    ApiError::new(0, format!("the connection to the coordinator broke: {error}"))
}

fn closed() -> ApiError {
    ApiError::new(
        0,
        "the coordinator closed the connection before its answer was complete",
    )
}

fn not_understood() -> ApiError {
    ApiError::new(
        0,
        "the coordinator's answer is not understood; are satrap and it of the same version?",
    )
}
