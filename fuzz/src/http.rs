//! Requests of the control API, as any client of the socket may send them, in pieces of any size.
//!
//! A request that is read keeps the limits, and the pieces make no difference. Neighbour:
//! `coordinator/daemon/src/http/request.rs` is under test.

#![no_main]
#![forbid(unsafe_code)]

use libfuzzer_sys::fuzz_target;
use satrap_coordinator::http::{BODY_MAX, request};
use std::io::{self, Read};

/// Gives what it has in small pieces.
struct Pieces<'a> {
    left: &'a [u8],
    size: usize,
}

impl Read for Pieces<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let size = self.size.min(into.len());
        self.left.read(&mut into[..size])
    }
}

fuzz_target!(|input: (u8, &[u8])| {
    let (size, bytes) = input;
    let whole = read_all(bytes, usize::MAX);
    assert_eq!(
        whole,
        read_all(bytes, 1 + usize::from(size)),
        "the pieces made a difference"
    );
});

/// All requests, and the status with which the connection ends.
fn read_all(left: &[u8], size: usize) -> (Vec<request::Request>, Option<u16>) {
    let mut stream = Pieces { left, size };
    let (mut pending, mut requests) = (Vec::new(), Vec::new());
    loop {
        match request::read(&mut stream, &mut pending) {
            Ok(Some(request)) => {
                assert!(request.body.len() <= BODY_MAX);
                requests.push(request);
            }
            Ok(None) => return (requests, None),
            Err(error) => return (requests, Some(error.status)),
        }
    }
}
