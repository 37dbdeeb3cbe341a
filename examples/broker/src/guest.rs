//! Asks the broker for company, then talks to whom it got.
//!
//! The endpoint comes by a message and is typed: one guest may ask, the other must answer.

#![forbid(unsafe_code)]

use broker::client::WaitingMessage;
use satrap::{Error, println};
use talk::service::StartMessage;

satrap::contract!("broker.wit");
satrap::main!(main);

fn main() -> Result<(), Error> {
    let name = satrap::args()
        .into_iter()
        .nth(1)
        .unwrap_or_else(|| "Nobody".into());
    match broker::Client::bind("broker")?.send_join_and_recv(&name)? {
        WaitingMessage::First { other, talk } => speak(&name, &other, talk),
        WaitingMessage::Second { other, talk } => listen(&name, &other, talk),
    }
}

fn speak(name: &str, other: &str, mut talk: talk::client::Start) -> Result<(), Error> {
    for question in ["how are you?", "where do you run?"] {
        println!("{name}: {other}, {question}");
        let answer = talk.ask(question)?;
        println!("{other}: {answer}");
    }
    talk.send_bye()
}

fn listen(name: &str, other: &str, mut talk: talk::service::Start) -> Result<(), Error> {
    loop {
        talk = match talk.recv()? {
            StartMessage::Ask { text, next } => {
                let place = satrap::process::kernel();
                let answer = match text.contains("where") {
                    true => format!("on satellite {place}"),
                    false => format!("well, thank you, {other}"),
                };
                next.send_answer(&answer)?
            }
            StartMessage::Bye => {
                println!("{name}: goodbye, {other}");
                return Ok(());
            }
        }
    }
}
