//! HTTP/1.1 (RFC 9112) as this service needs it: request heads in, whole responses out. Plain functions of
//! bytes, tested on the host; `serve` moves the bytes.

use std::fmt::Write;

/// Longest request head, in bytes.
pub const HEAD_MAX: usize = 16 << 10;

/// Most header fields of a request.
const FIELDS_MAX: usize = 64;

/// What a request's head says, as far as this service cares.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Request {
    pub method: String,
    /// The path without its query.
    pub path: String,
    /// Length of the body, in bytes.
    pub length: u64,
    /// Whether the client waits to be told that it may send the body.
    pub expects_continue: bool,
    /// Whether the connection stays open after the answer.
    pub keep_alive: bool,
}

/// A request that cannot be read any further: the answer, after which the connection closes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Refusal {
    pub status: u16,
    pub reason: &'static str,
}

const fn refusal(status: u16, reason: &'static str) -> Refusal {
    Refusal { status, reason }
}

/// Reads a request's head at the start of `bytes`: the request and the head's length, or `None` while bytes
/// are missing.
pub fn parse(bytes: &[u8]) -> Result<Option<(Request, usize)>, Refusal> {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
    let mut parser = httparse::Request::new(&mut fields);
    let head = match parser.parse(bytes) {
        Ok(httparse::Status::Complete(head)) => head,
        Ok(httparse::Status::Partial) if bytes.len() >= HEAD_MAX => {
            return Err(refusal(431, "the request's head is too large"));
        }
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(httparse::Error::TooManyHeaders) => return Err(refusal(431, "too many header fields")),
        Err(_) => return Err(refusal(400, "this is not HTTP")),
    };
    // The parser has them all once the head is complete.
    let (method, target) = (parser.method.unwrap_or_default(), parser.path.unwrap_or_default());
    let body = Body::of(parser.headers)?;
    let request = Request {
        method: method.to_owned(),
        path: target.split('?').next().unwrap_or_default().to_owned(),
        length: body.length,
        expects_continue: has_token(parser.headers, "expect", "100-continue"),
        keep_alive: parser.version == Some(1) && !has_token(parser.headers, "connection", "close"),
    };
    Ok(Some((request, head)))
}

/// How the body is framed. Anything doubtful is refused: two readings of one request are how requests are
/// smuggled (RFC 9112, 11.2).
struct Body {
    length: u64,
}

impl Body {
    fn of(fields: &[httparse::Header]) -> Result<Body, Refusal> {
        if values(fields, "transfer-encoding").next().is_some() {
            return Err(refusal(411, "send the body with a Content-Length"));
        }
        let mut lengths = values(fields, "content-length");
        let Some(first) = lengths.next() else {
            return Ok(Body { length: 0 });
        };
        let digits = first.iter().all(u8::is_ascii_digit);
        let length = std::str::from_utf8(first)
            .ok()
            .filter(|_| digits)
            .and_then(|text| text.parse().ok());
        match length {
            Some(length) if lengths.next().is_none() => Ok(Body { length }),
            _ => Err(refusal(400, "the Content-Length is not one number")),
        }
    }
}

fn values<'a>(fields: &'a [httparse::Header], name: &'a str) -> impl Iterator<Item = &'a [u8]> {
    fields
        .iter()
        .filter(move |field| field.name.eq_ignore_ascii_case(name))
        .map(|field| field.value)
}

fn has_token(fields: &[httparse::Header], name: &str, token: &str) -> bool {
    values(fields, name)
        .flat_map(|value| value.split(|byte| *byte == b','))
        .any(|part| part.trim_ascii().eq_ignore_ascii_case(token.as_bytes()))
}

/// An answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Response {
    pub status: u16,
    pub content_type: &'static str,
    pub body: Vec<u8>,
}

impl Response {
    pub fn html(page: &str) -> Response {
        Response {
            status: 200,
            content_type: "text/html; charset=utf-8",
            body: page.into(),
        }
    }

    pub fn json(value: &serde_json::Value) -> Response {
        Response {
            status: 200,
            content_type: "application/json",
            body: format!("{value}\n").into_bytes(),
        }
    }

    /// `{"error": reason}` with a status.
    pub fn error(status: u16, reason: impl ToString) -> Response {
        Response {
            status,
            ..Response::json(&serde_json::json!({ "error": reason.to_string() }))
        }
    }

    /// The bytes to write. `with_body` is false in an answer to HEAD, which says the length and sends none.
    pub fn encode(&self, keep_alive: bool, with_body: bool) -> Vec<u8> {
        let mut head = format!("HTTP/1.1 {} {}\r\n", self.status, phrase(self.status));
        let connection = if keep_alive { "keep-alive" } else { "close" };
        let retry = if self.status == 503 {
            "Retry-After: 1\r\n"
        } else {
            ""
        };
        let allow = if self.status == 405 {
            "Allow: GET, HEAD, POST\r\n"
        } else {
            ""
        };
        // Writing to a string cannot fail.
        let _ = write!(
            head,
            "Content-Type: {}\r\nContent-Length: {}\r\nConnection: {connection}\r\n{retry}{allow}\
             Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\r\n",
            self.content_type,
            self.body.len(),
        );
        let mut bytes = head.into_bytes();
        if with_body {
            bytes.extend(&self.body);
        }
        bytes
    }
}

impl From<Refusal> for Response {
    fn from(refusal: Refusal) -> Response {
        Response::error(refusal.status, refusal.reason)
    }
}

/// The answer to `Expect: 100-continue` when the body is welcome.
pub const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

fn phrase(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        411 => "Length Required",
        413 => "Content Too Large",
        422 => "Unprocessable Content",
        431 => "Request Header Fields Too Large",
        503 => "Service Unavailable",
        _ => "Internal Server Error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(text: &str) -> Request {
        parse(text.as_bytes()).unwrap().unwrap().0
    }

    fn status(text: &str) -> u16 {
        parse(text.as_bytes()).unwrap_err().status
    }

    #[test]
    fn a_head_is_read_and_its_length_told() {
        let text = b"POST /decode?x=1 HTTP/1.1\r\nHost: a\r\nContent-length: 5\r\n\r\nhello";
        let (request, head) = parse(text).unwrap().unwrap();
        assert_eq!(
            (request.method.as_str(), request.path.as_str()),
            ("POST", "/decode")
        );
        assert_eq!(
            (request.length, request.keep_alive, request.expects_continue),
            (5, true, false)
        );
        assert_eq!(&text[head..], b"hello");
    }

    #[test]
    fn an_unfinished_head_is_waited_for_but_not_for_ever() {
        assert_eq!(parse(b"GET / HTTP/1.1\r\nHost"), Ok(None));
        let long = format!("GET / HTTP/1.1\r\nX: {}", "x".repeat(HEAD_MAX));
        assert_eq!(status(&long), 431);
        let many = format!("GET / HTTP/1.1\r\n{}\r\n", "X: y\r\n".repeat(FIELDS_MAX + 1));
        assert_eq!(status(&many), 431);
    }

    #[test]
    fn a_connection_stays_open_unless_the_client_says_otherwise() {
        assert!(request("GET / HTTP/1.1\r\n\r\n").keep_alive);
        assert!(!request("GET / HTTP/1.1\r\nConnection: Upgrade, Close\r\n\r\n").keep_alive);
        assert!(!request("GET / HTTP/1.0\r\n\r\n").keep_alive);
    }

    #[test]
    fn a_body_of_doubtful_length_is_refused() {
        assert_eq!(
            status("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"),
            411
        );
        for length in ["-1", "+1", "1, 1", "", "0x10", "99999999999999999999"] {
            assert_eq!(
                status(&format!("POST / HTTP/1.1\r\nContent-Length: {length}\r\n\r\n")),
                400
            );
        }
        assert_eq!(
            status("POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n"),
            400
        );
    }

    #[test]
    fn what_is_not_http_is_refused() {
        assert_eq!(status("\u{1}\u{2}\u{3}\r\n\r\n"), 400);
    }

    #[test]
    fn an_answer_says_its_length_and_whether_the_connection_stays() {
        let text = String::from_utf8(Response::error(503, "later").encode(false, true)).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 503 Service Unavailable\r\n"));
        assert!(head.contains(&format!("\r\nContent-Length: {}\r\n", body.len())));
        assert!(head.contains("\r\nConnection: close\r\n") && head.contains("\r\nRetry-After: 1\r\n"));
        assert_eq!(body, "{\"error\":\"later\"}\n");
        assert!(Response::html("page").encode(true, false).ends_with(b"\r\n\r\n"));
    }
}
