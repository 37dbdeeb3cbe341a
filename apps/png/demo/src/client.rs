//! An HTTP client for the service: one connection, kept alive.
//!
//! All uploads of a client share it, so that the figures show the service and not the handshake. `load.rs`
//! has several of them work at once.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{Ipv4Addr, TcpStream},
    time::Duration,
};

/// Longest wait for an answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// One connection.
#[derive(Debug)]
pub struct Connection {
    stream: BufReader<TcpStream>,
}

/// An answer.
#[derive(Debug)]
pub struct Response {
    /// Its status, such as 200.
    pub status: u16,
    /// Its body.
    pub body: Vec<u8>,
}

impl Response {
    /// The body as JSON; null if it is none.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

impl Connection {
    /// Connects to the service on this machine.
    ///
    /// # Errors
    /// Nobody listens there.
    pub fn open(port: u16) -> io::Result<Connection> {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Connection {
            stream: BufReader::new(stream),
        })
    }

    /// Asks for a path.
    ///
    /// # Errors
    /// The connection's, or an answer that is not HTTP.
    pub fn get(&mut self, path: &str) -> io::Result<Response> {
        self.exchange(
            format!("GET {path} HTTP/1.1\r\nHost: satrap\r\n\r\n").as_bytes(),
            &[],
        )
    }

    /// Uploads a picture.
    ///
    /// # Errors
    /// As [`Connection::get`].
    pub fn decode(&mut self, picture: &[u8]) -> io::Result<Response> {
        let head = format!(
            "POST /decode HTTP/1.1\r\nHost: satrap\r\nContent-Length: {}\r\n\r\n",
            picture.len()
        );
        self.exchange(head.as_bytes(), picture)
    }

    fn exchange(&mut self, head: &[u8], body: &[u8]) -> io::Result<Response> {
        let stream = self.stream.get_mut();
        stream.write_all(head)?;
        stream.write_all(body)?;
        let status = self.line()?;
        let status = status.split(' ').nth(1).and_then(|code| code.parse().ok());
        let status = status.ok_or_else(|| io::Error::other("the answer is not HTTP"))?;
        let mut length = 0;
        loop {
            let line = self.line()?;
            match line.split_once(':') {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.trim().parse().map_err(io::Error::other)?;
                }
                Some(_) => {}
                None => break,
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        Ok(Response { status, body })
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        if self.stream.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(line.trim_end().to_owned())
    }
}
