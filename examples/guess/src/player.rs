//! Finds the number by halving the range in which it must be.
//!
//! Neighbour: `keeper.rs`, which has it in mind.

#![forbid(unsafe_code)]

use game::client::JudgingMessage;
use satrap::{Error, println, process};

satrap::contract!("guess.wit");
satrap::main!(main);

fn main() -> Result<(), Error> {
    let mut game = game::Client::bind("game")?;
    let (mut low, mut high) = (0, 999);
    loop {
        let guess = (low + high) / 2;
        game = match game.send_guess(guess)?.recv()? {
            JudgingMessage::Higher { next } => {
                low = guess + 1;
                next
            }
            JudgingMessage::Lower { next } => {
                high = guess - 1;
                next
            }
            JudgingMessage::Correct { tries } => {
                println!(
                    "satellite {}: it is {guess}, found in {tries} tries",
                    process::kernel()
                );
                return Ok(());
            }
        }
    }
}
