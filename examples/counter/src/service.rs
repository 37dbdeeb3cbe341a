//! One loop for all clients: whoever is ready is served, nobody waits for another.
//!
//! A client is a value of the type of its state, so a list of clients who may ask is a list of `Start`s.

#![forbid(unsafe_code)]

use counter::service::{Start, StartMessage};
use satrap::{Error, Source, println};

satrap::contract!("counter.wit");
satrap::main!(main);

fn main() -> Result<(), Error> {
    let service = counter::Service::register("/example/counter")?;
    let mut clients: Vec<Start> = Vec::new();
    let mut total = 0;
    loop {
        match ready(&service, &clients)? {
            None => clients.push(service.accept()?),
            Some(index) => {
                // Who was served goes to the end of the queue, so that all are served in turn.
                let client = clients.remove(index);
                match answer(client, &mut total) {
                    Ok(client) => clients.push(client),
                    Err(error) if error.is_closed() => println!("a client has left; the total is {total}"),
                    Err(error) => return Err(error),
                }
            }
        }
    }
}

/// Waits for a new client (`None`) or for a message of one that is there.
fn ready(service: &counter::Service, clients: &[Start]) -> Result<Option<usize>, Error> {
    let mut sources: Vec<&dyn Source> = vec![service.service()];
    sources.extend(clients.iter().map(|client| client.endpoint() as &dyn Source));
    Ok(satrap::wait(&sources)?.checked_sub(1))
}

fn answer(client: Start, total: &mut u64) -> Result<Start, Error> {
    match client.recv()? {
        StartMessage::Add { amount, next } => {
            *total += amount;
            next.send_total(*total)
        }
        StartMessage::Read { next } => next.send_total(*total),
    }
}
