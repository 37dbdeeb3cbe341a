//! Keeps a number in mind and answers guesses, one player after another.
//!
//! Neighbour: `player.rs`; `guess.wit` says who may say what when.

#![forbid(unsafe_code)]

use game::service::Start;
use satrap::{Error, println, random};
use std::cmp::Ordering;

satrap::contract!("guess.wit");
satrap::main!(main);

fn main() -> Result<(), Error> {
    let door = game::Service::register("/guess/game")?;
    loop {
        let player = door.accept()?;
        match play(player, random::next()? as u32 % 1000) {
            Ok(tries) => println!("found after {tries} tries"),
            Err(error) => println!("no game: {error}"),
        }
    }
}

fn play(mut player: Start, number: u32) -> Result<u32, Error> {
    let mut tries = 0;
    loop {
        let (guess, judging) = player.recv()?;
        tries += 1;
        player = match number.cmp(&guess) {
            Ordering::Greater => judging.send_higher()?,
            Ordering::Less => judging.send_lower()?,
            Ordering::Equal => {
                judging.send_correct(tries)?;
                return Ok(tries);
            }
        }
    }
}
