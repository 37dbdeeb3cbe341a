//! `bench-lmp-server`: answers one client after another, at `/bench/lmp`.
//!
//! It touches of a payload what the bench says and nothing more. Neighbour: `bench-lmp-client` measures.

#![forbid(unsafe_code)]

mod ends;

use bench::service::{Start, StartMessage};
use satrap::Error;

satrap::contract!("bench.wit");
satrap::main!(main);

fn main() -> Result<(), Error> {
    let service = bench::Service::register("/bench/lmp")?;
    loop {
        let mut client = service.accept()?;
        loop {
            client = match answer(client) {
                Ok(client) => client,
                Err(error) if error.is_closed() => break,
                Err(error) => return Err(error),
            };
        }
    }
}

fn answer(client: Start) -> Result<Start, Error> {
    match client.recv()? {
        StartMessage::Ping { a, b, c, d, next } => next.send_pong(a, b, c, d),
        StartMessage::Pass { data, next } => next.send_passed(data),
        StartMessage::Look { data, next } => {
            let sum = ends::sum(&data);
            // The buffer goes back before the answer, so that the client finds it free.
            drop(data);
            next.send_looked(sum)
        }
        StartMessage::Mark { next, .. } => Ok(next),
    }
}
