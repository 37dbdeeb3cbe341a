//! Adds to the shared number a thousand times.
//!
//! The manifest starts this program twice; neither knows of the other.

#![forbid(unsafe_code)]

use satrap::{Error, println, process};

satrap::contract!("counter.wit");
satrap::main!(main);

fn main() -> Result<(), Error> {
    let mut counter = counter::Client::bind("counter")?;
    for _ in 0..1000 {
        counter.add(1)?;
    }
    println!(
        "from satellite {}: the total is {}",
        process::kernel(),
        counter.read()?
    );
    Ok(())
}
