//! Reading one request from a connection, within bounds.
//!
//! Everything that a client sends has a bound, and each bound has its own answer.

use super::{BODY_MAX, FIELDS_MAX, HEAD_MAX};
use crate::api::ApiError;
use std::io::{ErrorKind, Read};

/// A request, complete.
#[derive(Debug, PartialEq, Eq)]
pub struct Request {
    /// As it stands in the request line.
    pub method: String,
    /// Path and query, undecoded.
    pub target: String,
    /// At most [`BODY_MAX`] bytes.
    pub body: Vec<u8>,
    /// Whether the client wants to ask more on the same connection.
    pub keep_alive: bool,
}

struct Head {
    request: Request,
    length: usize,
    body: usize,
}

/// Reads a request; `pending` holds what was read of it before, and afterwards of the next one. `None` if the
/// client has closed the connection or fell silent.
pub fn read(stream: &mut impl Read, pending: &mut Vec<u8>) -> Result<Option<Request>, ApiError> {
    let head = loop {
        if let Some(head) = parse(pending)? {
            break head;
        }
        if pending.len() > HEAD_MAX {
            return Err(ApiError::new(
                431,
                format!("the request's head is larger than {HEAD_MAX} bytes"),
            ));
        }
        if !more(stream, pending) {
            return Ok(None);
        }
    };
    while pending.len() < head.length + head.body {
        if !more(stream, pending) {
            return Ok(None);
        }
    }
    let mut request = head.request;
    request.body = pending[head.length..head.length + head.body].to_vec();
    pending.drain(..head.length + head.body);
    Ok(Some(request))
}

/// Reads what is there. A closed, broken or silent connection has no more.
fn more(stream: &mut impl Read, pending: &mut Vec<u8>) -> bool {
    let mut piece = [0; 4096];
    loop {
        match stream.read(&mut piece) {
            Ok(0) => return false,
            Ok(length) => {
                pending.extend_from_slice(&piece[..length]);
                return true;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return false,
        }
    }
}

/// The head, if all of it is there.
fn parse(bytes: &[u8]) -> Result<Option<Head>, ApiError> {
    let malformed = |what: &str| ApiError::new(400, format!("this is not an HTTP/1.1 request: {what}"));
    let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
    let mut parsed = httparse::Request::new(&mut fields);
    let status = parsed
        .parse(bytes)
        .map_err(|error| malformed(&error.to_string()))?;
    let httparse::Status::Complete(length) = status else {
        return Ok(None);
    };
    let (Some(method), Some(target)) = (parsed.method, parsed.path) else {
        return Err(malformed("no request line"));
    };
    let field = |name: &str| {
        let named = parsed
            .headers
            .iter()
            .find(|field| field.name.eq_ignore_ascii_case(name));
        named.map(|field| String::from_utf8_lossy(field.value).trim().to_ascii_lowercase())
    };
    if field("transfer-encoding").is_some() {
        return Err(ApiError::new(
            411,
            "send the body with a Content-Length, not in chunks",
        ));
    }
    let body = match field("content-length") {
        Some(text) => text
            .parse()
            .map_err(|_| malformed("Content-Length is no number"))?,
        None => 0,
    };
    if body > BODY_MAX {
        return Err(ApiError::new(
            413,
            format!("the body is larger than {BODY_MAX} bytes"),
        ));
    }
    let keep_alive = match field("connection") {
        Some(wish) => wish != "close",
        None => parsed.version == Some(1),
    };
    let request = Request {
        method: method.to_owned(),
        target: target.to_owned(),
        body: Vec::new(),
        keep_alive,
    };
    Ok(Some(Head {
        request,
        length,
        body,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(mut bytes: &[u8]) -> Result<Vec<Request>, u16> {
        let mut pending = Vec::new();
        let mut requests = Vec::new();
        while let Some(request) = read(&mut bytes, &mut pending).map_err(|error| error.status)? {
            requests.push(request);
        }
        Ok(requests)
    }

    #[test]
    fn requests_follow_each_other_on_one_connection() {
        let requests = read_all(
            b"POST /v1/apps HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}GET /v1/status HTTP/1.1\r\nConnection: close\r\n\r\n",
        )
        .unwrap();
        assert_eq!(
            (requests[0].method.as_str(), &requests[0].body[..]),
            ("POST", &b"{}"[..])
        );
        assert_eq!(
            (requests[1].target.as_str(), requests[1].keep_alive),
            ("/v1/status", false)
        );
    }

    #[test]
    fn what_exceeds_a_bound_or_is_no_http_is_refused() {
        let long = [&b"GET / HTTP/1.1\r\nx: "[..], &[b'a'; 2 * HEAD_MAX]].concat();
        assert_eq!(read_all(&long), Err(431));
        assert_eq!(
            read_all(b"POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n"),
            Err(413)
        );
        assert_eq!(
            read_all(b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"),
            Err(411)
        );
        assert_eq!(read_all(b"\x00\x01\x02\r\n\r\n"), Err(400));
        let many: String = (0..100).map(|field| format!("f{field}: x\r\n")).collect();
        assert_eq!(
            read_all(format!("GET / HTTP/1.1\r\n{many}\r\n").as_bytes()),
            Err(400)
        );
    }

    #[test]
    fn a_client_that_leaves_in_the_middle_is_no_error() {
        assert_eq!(read_all(b"GET / HT"), Ok(vec![]));
        assert_eq!(
            read_all(b"POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\n{"),
            Ok(vec![])
        );
    }
}
