//! Deeds against a channel. The process holds both its ends, so it can see that the peer saw nothing.
//!
//! They use untyped endpoints: with those of the contract, a message out of order does not compile.

use std::time::Duration;

use satrap::{Endpoint, Errno, Error, Message, println, time};

satrap::contract!("misbehave.wit");

/// Messages of the contract are numbered by their names' order.
const ANSWER: u16 = 0;
const PING: u16 = 1;
const UNKNOWN: u16 = 3;

/// Far above any channel's depth.
const TRIES_MAX: usize = 1_000_000;

fn ends() -> Result<(Endpoint, Endpoint), String> {
    satrap::channel(&victim::DIGEST).map_err(|error| error.to_string())
}

fn send(endpoint: &Endpoint, tag: u16, deadline: u64) -> Result<(), Error> {
    endpoint.send_until(&mut Message::new(tag), deadline)
}

/// Only the service may send the answer, and nobody has a fourth message.
pub fn break_protocol() -> Result<(), String> {
    let (client, service) = ends()?;
    for (deed, tag) in [("the peer's message", ANSWER), ("an unknown message", UNKNOWN)] {
        match send(&client, tag, time::AT_ONCE) {
            Err(error) if error.errno() == Some(Errno::Protocol) => println!("{deed}: refused: {error}"),
            other => return Err(format!("{deed}: {other:?}")),
        }
    }
    send(&client, PING, time::AT_ONCE).map_err(|error| format!("the channel is broken: {error}"))?;
    let mut received = Message::new(0);
    service
        .recv_until(&mut received, time::AT_ONCE)
        .map_err(|error| error.to_string())?;
    match (received.tag, service.recv_until(&mut received, time::AT_ONCE)) {
        (PING, Err(error)) if error.is_late() => {
            println!("the peer saw only the message that is allowed");
            Ok(())
        }
        (tag, next) => Err(format!("the peer saw message {tag}, then {next:?}")),
    }
}

pub fn flood() -> Result<(), String> {
    let (client, _service) = ends()?;
    for count in 0..TRIES_MAX {
        if let Err(error) = send(&client, PING, time::AT_ONCE) {
            println!("messages: refused after {count}: {error}");
            return wait_for_room(&client);
        }
    }
    Err(format!("messages: {TRIES_MAX} and no limit"))
}

/// A sender with patience waits for room, and no longer than it says.
fn wait_for_room(client: &Endpoint) -> Result<(), String> {
    match send(client, PING, time::after(Duration::from_millis(20))) {
        Err(error) if error.is_late() => {
            println!("waited: {error}");
            Ok(())
        }
        other => Err(format!("a full channel answered {other:?}")),
    }
}
