//! Conversations that change hands in their middle: a client that has had its answer gives its end to a heir,
//! which goes on with the next number. Kernels relay, and relay what they relay.

use super::{
    echo,
    line::{Line, converse_often, register},
};
use crate::{
    contracts::CONTRACTS,
    engine::{Calling, Guest},
};
use satrap_abi::call::FOREVER;
use satrap_kernel::engine::End;

/// The heir: one conversation after another.
pub fn service(guest: &mut Guest) -> Result<i32, End> {
    let service = register(guest, &CONTRACTS.heir)?;
    loop {
        let endpoint = guest.accept(service, FOREVER)?;
        let endpoint = endpoint.expect("one client at a time fits");
        let mut line = Line::service(guest, endpoint, &CONTRACTS.heir);
        let heard = line.hear(guest, FOREVER)?;
        line.close(guest)?;
        if let Ok(will) = heard {
            let talk = will.endpoint.expect("a will carries an endpoint");
            let mut talk = Line::inherited(talk, &CONTRACTS.echo, will.more);
            let _ = echo::ask(guest, &mut talk)?;
            talk.close(guest)?;
        }
    }
}

/// A client of the echo service that leaves its conversations to a heir.
pub fn client(guest: &mut Guest) -> Result<i32, End> {
    let times = guest.rng.between(1, 3);
    converse_often(guest, &CONTRACTS.echo, times, begin)
}

/// Asks, and lets another go on.
fn begin(guest: &mut Guest, line: &mut Line) -> Calling<()> {
    if let Err(errno) = echo::ask_some(guest, line)? {
        return Ok(Err(errno));
    }
    let deadline = guest.now() + 1_000_000;
    let endpoint = match guest.bind("/heir", &CONTRACTS.heir, deadline)? {
        Ok(endpoint) => endpoint,
        Err(errno) => return Ok(Err(errno)),
    };
    let mut will = Line::client(guest, endpoint, &CONTRACTS.heir);
    let given = will.bequeath(guest, line)?;
    will.close(guest)?;
    Ok(given)
}
