//! Passes on every other block. It looks at four bytes of each, and touches no others.
//!
//! The middle of the pipeline: a service for the source, a client of the sink.

#![forbid(unsafe_code)]

use satrap::{Error, println};
use stage::service::StartMessage;

satrap::contract!("blocks.wit");
satrap::main!(main);

fn main() -> Result<(), Error> {
    let mut next = stage::Client::bind("next")?;
    let mut source = stage::Service::register("/example/filter")?.accept()?;
    loop {
        source = match source.recv()? {
            StartMessage::Take {
                number,
                data,
                next: rest,
            } => {
                let mut first = [0; 4];
                data.read(0, &mut first)?;
                match u32::from_le_bytes(first) % 2 {
                    0 => next.take(number, data)?,
                    _ => println!("filter: block {number} is odd and goes no further"),
                }
                rest
            }
            StartMessage::Done { next: closing } => {
                next.send_done()?.recv()?;
                return closing.send_finished();
            }
        }
    }
}
