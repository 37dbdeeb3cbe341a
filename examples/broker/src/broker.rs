//! Gives each pair of guests a channel of their own.
//!
//! It holds both ends for a moment, sends one to each guest, and hears nothing of what they say.

#![forbid(unsafe_code)]

use broker::service::Waiting;
use satrap::{Error, println};

satrap::contract!("broker.wit");
satrap::main!(main);

fn main() -> Result<(), Error> {
    let service = broker::Service::register("/example/broker")?;
    let mut alone: Option<(String, Waiting)> = None;
    loop {
        let (name, guest) = service.accept()?.recv()?;
        alone = match alone.take() {
            None => Some((name, guest)),
            Some((other_name, other)) => {
                introduce((&other_name, other), (&name, guest))?;
                println!("{other_name} and {name} talk");
                None
            }
        }
    }
}

/// Makes the channel and gives both ends away.
fn introduce(first: (&str, Waiting), second: (&str, Waiting)) -> Result<(), Error> {
    let (speaker, listener) = talk::channel()?;
    first.1.send_first(second.0, speaker)?;
    second.1.send_second(first.0, listener)
}
