//! `bench-lmp-server`: answers one client after another, at `/bench/lmp`.
//!
//! It touches of a payload what the bench says and nothing more. Neighbour: `bench-lmp-client` measures.

#![forbid(unsafe_code)]

mod ends;

use bench::service::{Start, StartMessage};
use satrap::{Error, Pool};

satrap::contract!("bench.wit");
satrap::main!(main);

const BUFFERS: usize = 4;

fn main() -> Result<(), Error> {
    let service = bench::Service::register("/bench/lmp")?;
    loop {
        let mut client = service.accept()?;
        let mut pool = None;
        loop {
            client = match answer(client, &mut pool) {
                Ok(client) => client,
                Err(error) if error.is_closed() => break,
                Err(error) => return Err(error),
            };
        }
    }
}

/// `pool` is this client's, made when it first wants a buffer back.
fn answer(client: Start, pool: &mut Option<Pool>) -> Result<Start, Error> {
    match client.recv()? {
        StartMessage::Ping { a, b, c, d, next } => next.send_pong(a, b, c, d),
        StartMessage::Pass { data, next } => next.send_passed(data),
        StartMessage::Look { data, next } => {
            let sum = ends::sum(&data);
            // The buffer goes back before the answer, so that the client finds it free.
            drop(data);
            next.send_looked(sum)
        }
        StartMessage::Toss { data, next } => {
            let pool = match pool {
                Some(pool) => pool,
                None => pool.insert(Pool::new(next.endpoint(), data.len(), BUFFERS)?),
            };
            let mut answer = pool.acquire()?;
            ends::mark(&mut answer, data[0]);
            drop(data);
            next.send_tossed(answer)
        }
        StartMessage::Pour { next, .. } | StartMessage::Mark { next, .. } => Ok(next),
    }
}
