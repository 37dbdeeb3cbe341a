//! Question and answer: a service that waits for many clients at once, one with a thread for each, a client.
//!
//! Every answer must be to the question asked, whatever crashed meanwhile. `line.rs` compares; `checkers`
//! judge.

use super::line::{Line, converse_often, free, parcel, register};
use crate::{
    contracts::CONTRACTS,
    engine::{Calling, Guest, PARTS},
};
use satrap_abi::call::FOREVER;
use satrap_kernel::engine::End;

/// A service with one thread.
pub fn service(guest: &mut Guest) -> Result<i32, End> {
    let service = register(guest, &CONTRACTS.echo)?;
    let mut lines: Vec<Line> = Vec::new();
    loop {
        let mut handles: Vec<u32> = lines.iter().map(|line| line.endpoint).collect();
        handles.push(service);
        let ready = guest.wait(&handles, FOREVER)?;
        let ready = ready.expect("waiting for what one holds cannot fail");
        if ready < lines.len() {
            if !answer(guest, &mut lines[ready])? {
                lines.swap_remove(ready).close(guest)?;
            }
        } else if let Ok(endpoint) = guest.accept(service, FOREVER)? {
            lines.push(Line::service(guest, endpoint, &CONTRACTS.echo));
        }
    }
}

/// A service with a thread for each client, as long as there is memory for their stacks.
pub fn threads(guest: &mut Guest) -> Result<i32, End> {
    let service = register(guest, &CONTRACTS.echo)?;
    serve_by_threads(guest, service)
}

/// Accepts clients for ever, a thread of routine 0 for each. With every part of the memory taken, the thread
/// that runs longest must end first.
pub fn serve_by_threads(guest: &mut Guest, service: u32) -> Result<i32, End> {
    let mut free: Vec<u32> = (1..PARTS).collect();
    let mut running: Vec<(u32, u32)> = Vec::new();
    loop {
        let part = match free.pop() {
            Some(part) => part,
            None => {
                let (thread, part) = running.remove(0);
                guest
                    .join(thread)?
                    .expect("joining a thread of one's own cannot fail");
                part
            }
        };
        let endpoint = guest.accept(service, FOREVER)?;
        let endpoint = endpoint.expect("a service accepts as many clients as fit");
        let thread = guest.spawn(0, endpoint, part)?;
        running.push((thread.expect("there are fewer parts than threads allowed"), part));
    }
}

/// A thread that serves one client.
pub fn serve_argument(guest: &mut Guest) -> Result<i32, End> {
    let endpoint = guest.argument;
    serve(guest, endpoint)?;
    Ok(0)
}

/// Serves one client until its end.
pub fn serve(guest: &mut Guest, endpoint: u32) -> Result<(), End> {
    let mut line = Line::service(guest, endpoint, &CONTRACTS.echo);
    while answer(guest, &mut line)? {}
    line.close(guest)
}

/// Answers one question; whether there may be more.
fn answer(guest: &mut Guest, line: &mut Line) -> Result<bool, End> {
    let Ok(question) = line.hear(guest, FOREVER)? else {
        return Ok(false);
    };
    if question.name == "bye" {
        return Ok(false);
    }
    let reply = match question.parcel {
        Some(parcel) if guest.rng.chance(700) => line.give(guest, "answer-block", parcel)?,
        Some(parcel) => {
            free(guest, parcel)?;
            line.say(guest, "answer")?
        }
        None => line.say(guest, "answer")?,
    };
    Ok(reply.is_ok())
}

/// A client: some conversations, one after another.
pub fn client(guest: &mut Guest) -> Result<i32, End> {
    let times = guest.rng.between(1, 5);
    converse_often(guest, &CONTRACTS.echo, times, ask)
}

/// Asks some questions, then says goodbye. One conversation in five ends without a word.
pub fn ask(guest: &mut Guest, line: &mut Line) -> Calling<()> {
    if let Err(errno) = ask_some(guest, line)? {
        return Ok(Err(errno));
    }
    if guest.rng.chance(200) {
        return Ok(Ok(()));
    }
    line.say(guest, "bye")
}

/// Asks some questions and waits for each answer.
pub fn ask_some(guest: &mut Guest, line: &mut Line) -> Calling<()> {
    for _ in 0..guest.rng.between(1, 10) {
        let parcel = if guest.rng.chance(400) {
            parcel(guest)?
        } else {
            None
        };
        let asked = match parcel {
            Some(parcel) => line.give(guest, "ask-block", parcel)?,
            None => line.say(guest, "ask")?,
        };
        if asked.is_err() {
            return Ok(asked);
        }
        match line.hear(guest, FOREVER)? {
            Ok(answer) => {
                if let Some(parcel) = answer.parcel {
                    free(guest, parcel)?;
                }
            }
            Err(errno) => return Ok(Err(errno)),
        }
    }
    Ok(Ok(()))
}
