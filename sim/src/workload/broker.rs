//! Endpoints for others: a broker makes channels and gives their ends to two clients, wherever they are. Its
//! kernel relays between them from then on, even when the broker itself is gone.

use super::{
    echo,
    line::{Line, converse_often, register},
};
use crate::{
    contracts::CONTRACTS,
    engine::{Calling, Guest},
};
use satrap_abi::{Errno, call::FOREVER};
use satrap_kernel::engine::End;

/// How long a client waits for a partner, in ns: the last one of an odd number waits in vain.
const PATIENCE: u64 = 5_000_000;

/// The broker.
pub fn service(guest: &mut Guest) -> Result<i32, End> {
    let service = register(guest, &CONTRACTS.broker)?;
    let mut single: Option<Line> = None;
    loop {
        let mut handles = vec![service];
        handles.extend(single.iter().map(|line| line.endpoint));
        let ready = guest.wait(&handles, FOREVER)?;
        if ready == Ok(1)
            && let Some(mut line) = single.take()
        {
            // It has said all that it may say: this is its end.
            let ended = line.hear(guest, 0)?.is_err();
            assert!(ended, "a client that spoke out of turn");
            line.close(guest)?;
        } else if let Ok(endpoint) = guest.accept(service, FOREVER)? {
            let mut line = Line::service(guest, endpoint, &CONTRACTS.broker);
            if line.hear(guest, FOREVER)?.is_err() {
                line.close(guest)?;
            } else if let Some(first) = single.take() {
                single = bring_together(guest, first, line)?;
            } else {
                single = Some(line);
            }
        }
    }
}

/// Gives two clients the ends of a new channel; the second still waits if the first has gone.
fn bring_together(guest: &mut Guest, mut first: Line, mut second: Line) -> Result<Option<Line>, End> {
    let Ok((asks, answers)) = guest.channel(&CONTRACTS.echo)? else {
        first.close(guest)?;
        return Ok(Some(second));
    };
    let given = first.hand(guest, "speaker", asks)?;
    first.close(guest)?;
    if given.is_err() {
        let _ = guest.close(answers)?;
        return Ok(Some(second));
    }
    let _ = second.hand(guest, "listener", answers)?;
    second.close(guest)?;
    Ok(None)
}

/// A client of the broker: it asks or answers, as it comes.
pub fn client(guest: &mut Guest) -> Result<i32, End> {
    let times = guest.rng.between(1, 3);
    converse_often(guest, &CONTRACTS.broker, times, meet)
}

fn meet(guest: &mut Guest, line: &mut Line) -> Calling<()> {
    if let Err(errno) = line.say(guest, "join")? {
        return Ok(Err(errno));
    }
    let deadline = guest.now() + PATIENCE;
    let word = match line.hear(guest, deadline)? {
        Ok(word) => word,
        Err(Errno::TimedOut) => return Ok(Ok(())),
        Err(errno) => return Ok(Err(errno)),
    };
    let endpoint = word
        .endpoint
        .expect("both answers of the broker carry an endpoint");
    if word.name == "listener" {
        echo::serve(guest, endpoint)?;
        return Ok(Ok(()));
    }
    let mut talk = Line::client(guest, endpoint, &CONTRACTS.echo);
    let asked = echo::ask(guest, &mut talk)?;
    talk.close(guest)?;
    Ok(asked)
}
