//! Registers a name, and answers one client until it leaves.
//!
//! Each step of the protocol consumes one state and gives the next.

#![forbid(unsafe_code)]

use satrap::Error;

satrap::contract!("echo.wit");
satrap::main!(main);

fn main() -> Result<(), Error> {
    let service = echo::Service::register("/example/echo")?;
    let mut client = service.accept()?;
    loop {
        // `recv` gives the text and the state in which we owe an answer; giving it leads back to the start.
        client = match client.recv() {
            Ok((text, answering)) => answering.send_said(&text)?,
            Err(error) if error.is_closed() => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}
