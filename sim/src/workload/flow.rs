//! Many messages one way: the service is sometimes slow, so that the client runs out of credits.
//!
//! Nothing may be lost, doubled or reordered while credits run out. `line.rs` numbers the messages;
//! `checkers` judge.

use super::{
    echo::serve_by_threads,
    line::{Line, converse_often, free, parcel, register},
};
use crate::{
    contracts::CONTRACTS,
    engine::{Calling, Guest},
};
use satrap_abi::call::FOREVER;
use satrap_kernel::engine::End;

/// The service: a thread for each client.
pub fn service(guest: &mut Guest) -> Result<i32, End> {
    let service = register(guest, &CONTRACTS.flow)?;
    serve_by_threads(guest, service)
}

/// A thread that takes in one client's items.
pub fn serve_argument(guest: &mut Guest) -> Result<i32, End> {
    let endpoint = guest.argument;
    let mut line = Line::service(guest, endpoint, &CONTRACTS.flow);
    while let Ok(item) = line.hear(guest, FOREVER)? {
        if let Some(parcel) = item.parcel {
            free(guest, parcel)?;
        }
        if item.name == "done" {
            let _ = line.say(guest, "total")?;
            break;
        }
        if guest.rng.chance(50) {
            guest.yield_now()?;
        }
        if guest.rng.chance(20) {
            let pause = guest.rng.between(1_000, 100_000);
            guest.sleep(pause)?;
        }
    }
    line.close(guest)?;
    Ok(0)
}

/// The client.
pub fn client(guest: &mut Guest) -> Result<i32, End> {
    let times = guest.rng.between(1, 2);
    converse_often(guest, &CONTRACTS.flow, times, pour)
}

/// Sends many items, then waits to hear that all have come.
fn pour(guest: &mut Guest, line: &mut Line) -> Calling<()> {
    // One in ten is so long that a credit lost now and then would stop it.
    let items = match guest.rng.chance(100) {
        true => guest.rng.between(1_200, 1_600),
        false => guest.rng.between(20, 150),
    };
    for _ in 0..items {
        let parcel = if guest.rng.chance(100) {
            parcel(guest)?
        } else {
            None
        };
        let sent = match parcel {
            Some(parcel) => line.give(guest, "item-block", parcel)?,
            None => line.say(guest, "item")?,
        };
        if sent.is_err() {
            return Ok(sent);
        }
    }
    let done = line.say(guest, "done")?;
    if done.is_err() {
        return Ok(done);
    }
    Ok(line.hear(guest, FOREVER)?.map(drop))
}
