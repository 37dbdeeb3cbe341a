//! Says something to the service and prints what comes back.
//!
//! `say` is a whole exchange: it sends, waits for the answer, and leaves the channel ready for the next.

#![forbid(unsafe_code)]

use satrap::{Error, println, time};

satrap::contract!("echo.wit");
satrap::main!(main);

fn main() -> Result<(), Error> {
    let mut echo = echo::Client::bind("echo")?;
    for text in ["one", "two", "three"] {
        let asked = time::now();
        let said = echo.say(text)?;
        println!("{said} (after {:?})", asked.elapsed());
    }
    Ok(())
}
