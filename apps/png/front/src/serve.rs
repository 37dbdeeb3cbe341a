//! One connection from its first request to its last: reads heads, fetches bodies, writes answers.
//!
//! The connection and what stands behind the service are traits, so that all of this runs on the host under
//! test. Neighbours: `tcp` is the real connection, `service` the real back end.

use crate::http::{self, CONTINUE, Refusal, Request, Response};

/// Longest picture that is taken, in bytes.
pub const BODY_MAX: u64 = 16 << 20;

/// The other side is gone, or was silent for too long.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Gone;

/// A byte stream with a client at its other end.
pub trait Stream {
    /// What a request's body is delivered as.
    type Body;

    /// The next bytes, as many as are there; none at the client's end of the stream.
    fn read(&mut self) -> Result<Vec<u8>, Gone>;

    /// Exactly `length` bytes, of which `start` have been read before.
    fn body(&mut self, start: &[u8], length: u64) -> Result<Self::Body, Gone>;

    /// Writes all of the bytes.
    fn write(&mut self, bytes: &[u8]) -> Result<(), Gone>;
}

/// What answers the requests.
pub trait Service<Body> {
    /// A request without a body.
    fn answer(&mut self, path: &str) -> Response;

    /// A picture to decode, `length` bytes of it.
    fn decode(&mut self, body: Body, length: u64) -> Response;
}

/// Serves a connection until either side ends it.
pub fn serve<S: Stream>(stream: &mut S, service: &mut impl Service<S::Body>) -> Result<(), Gone> {
    let mut pending = Vec::new();
    loop {
        let request = match next_request(stream, &mut pending)? {
            Ok(Some(request)) => request,
            Ok(None) => return Ok(()),
            Err(refusal) => {
                stream.write(&Response::from(refusal).encode(false, true))?;
                return discard(stream);
            }
        };
        let (response, in_step) = respond(stream, service, &request, &mut pending)?;
        let keep_alive = request.keep_alive && in_step;
        stream.write(&response.encode(keep_alive, request.method != "HEAD"))?;
        if !in_step {
            return discard(stream);
        }
        if !keep_alive {
            return Ok(());
        }
    }
}

/// Reads away what a refused client still sends, within bounds: a connection that closes with bytes unread is
/// reset, and the reset can overtake the answer.
fn discard(stream: &mut impl Stream) -> Result<(), Gone> {
    let mut discarded = 0;
    while discarded < 4 * BODY_MAX {
        match stream.read()?.len() as u64 {
            0 => break,
            len => discarded += len,
        }
    }
    Ok(())
}

/// Reads until `pending` holds a whole head, and takes that out; `None` when the client has no more requests.
fn next_request(
    stream: &mut impl Stream,
    pending: &mut Vec<u8>,
) -> Result<Result<Option<Request>, Refusal>, Gone> {
    loop {
        match http::parse(pending) {
            Err(refusal) => return Ok(Err(refusal)),
            Ok(Some((request, head))) => {
                pending.drain(..head);
                return Ok(Ok(Some(request)));
            }
            Ok(None) => {
                let bytes = stream.read()?;
                if bytes.is_empty() {
                    return Ok(Ok(None));
                }
                pending.extend(bytes);
            }
        }
    }
}

/// The answer, and whether the stream stands at the start of the next request: not if a body was left unread.
fn respond<S: Stream>(
    stream: &mut S,
    service: &mut impl Service<S::Body>,
    request: &Request,
    pending: &mut Vec<u8>,
) -> Result<(Response, bool), Gone> {
    let bodiless = request.length == 0;
    match (request.method.as_str(), request.path.as_str()) {
        ("GET" | "HEAD", path) => Ok((service.answer(path), bodiless)),
        ("POST", "/decode") if bodiless => Ok((Response::error(422, "the request has no picture"), true)),
        ("POST", "/decode") if request.length > BODY_MAX => {
            let reason = format!("the picture has {} bytes; {BODY_MAX} are taken", request.length);
            Ok((Response::error(413, reason), false))
        }
        ("POST", "/decode") => {
            let body = fetch_body(stream, request, pending)?;
            Ok((service.decode(body, request.length), true))
        }
        ("POST", _) => Ok((Response::error(404, "post pictures to /decode"), bodiless)),
        _ => Ok((
            Response::error(405, "there are only GET, HEAD and POST"),
            bodiless,
        )),
    }
}

fn fetch_body<S: Stream>(stream: &mut S, request: &Request, pending: &mut Vec<u8>) -> Result<S::Body, Gone> {
    if request.expects_continue && pending.is_empty() {
        stream.write(CONTINUE)?;
    }
    // The length was checked against BODY_MAX.
    let here = pending.len().min(request.length as usize);
    let body = stream.body(&pending[..here], request.length)?;
    pending.drain(..here);
    Ok(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A client that sends its bytes in pieces, then ends the stream.
    struct Client {
        sends: Vec<u8>,
        piece: usize,
        received: Vec<u8>,
    }

    impl Stream for Client {
        type Body = Vec<u8>;

        fn read(&mut self) -> Result<Vec<u8>, Gone> {
            let len = self.piece.min(self.sends.len());
            Ok(self.sends.drain(..len).collect())
        }

        fn body(&mut self, start: &[u8], length: u64) -> Result<Vec<u8>, Gone> {
            let missing = length as usize - start.len();
            if self.sends.len() < missing {
                return Err(Gone);
            }
            Ok(start.iter().copied().chain(self.sends.drain(..missing)).collect())
        }

        fn write(&mut self, bytes: &[u8]) -> Result<(), Gone> {
            self.received.extend(bytes);
            Ok(())
        }
    }

    struct Echo;

    impl Service<Vec<u8>> for Echo {
        fn answer(&mut self, path: &str) -> Response {
            Response::html(path)
        }

        fn decode(&mut self, body: Vec<u8>, length: u64) -> Response {
            assert_eq!(body.len() as u64, length);
            Response {
                status: 200,
                content_type: "image/png",
                body,
            }
        }
    }

    /// What the client receives when it sends `text` in pieces of so many bytes.
    fn talk(text: &str, piece: usize) -> (Result<(), Gone>, String) {
        let mut client = Client {
            sends: text.into(),
            piece,
            received: Vec::new(),
        };
        let ended = serve(&mut client, &mut Echo);
        (ended, String::from_utf8(client.received).unwrap())
    }

    #[test]
    fn requests_on_one_connection_are_answered_in_order_however_they_arrive() {
        let text = "GET /a HTTP/1.1\r\n\r\nPOST /decode HTTP/1.1\r\nContent-Length: 4\r\n\r\n\x01PNGGET /b HTTP/1.1\r\n\r\n";
        for piece in [1, 7, 40, 1000] {
            let (ended, received) = talk(text, piece);
            assert_eq!(ended, Ok(()));
            let bodies: Vec<&str> = received.split("\r\n\r\n").skip(1).collect();
            assert_eq!(bodies.len(), 3, "{received}");
            assert!(bodies[0].starts_with("/a") && bodies[1].starts_with("\x01PNG") && bodies[2] == "/b");
        }
    }

    #[test]
    fn a_body_too_large_is_refused_unread_and_the_connection_closes() {
        let text = format!(
            "POST /decode HTTP/1.1\r\nContent-Length: {}\r\n\r\nGET / HTTP/1.1\r\n\r\n",
            BODY_MAX + 1
        );
        let (ended, received) = talk(&text, 4096);
        assert_eq!(ended, Ok(()));
        assert!(received.starts_with("HTTP/1.1 413 ") && received.contains("Connection: close"));
        assert_eq!(received.matches("HTTP/1.1").count(), 1);
    }

    #[test]
    fn a_client_that_waits_for_permission_gets_it() {
        let head = "POST /decode HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n";
        let (_, received) = talk(&format!("{head}x"), head.len());
        assert!(
            received.starts_with("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"),
            "{received}"
        );
    }

    #[test]
    fn a_client_that_leaves_in_the_middle_of_a_body_gets_no_answer() {
        let text = "POST /decode HTTP/1.1\r\nContent-Length: 10\r\n\r\nshort";
        assert_eq!(talk(text, 1000), (Err(Gone), String::new()));
    }

    #[test]
    fn wrong_methods_paths_and_bytes_are_answered() {
        assert!(talk("PUT / HTTP/1.1\r\n\r\n", 99).1.starts_with("HTTP/1.1 405 "));
        assert!(talk("POST / HTTP/1.1\r\n\r\n", 99).1.starts_with("HTTP/1.1 404 "));
        assert!(
            talk("POST /decode HTTP/1.1\r\n\r\n", 99)
                .1
                .starts_with("HTTP/1.1 422 ")
        );
        assert!(talk("\u{1}\r\n\r\n", 99).1.starts_with("HTTP/1.1 400 "));
        assert!(talk("HEAD / HTTP/1.1\r\n\r\n", 99).1.ends_with("\r\n\r\n"));
    }
}
