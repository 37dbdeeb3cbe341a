//! Adds up what arrives.
//!
//! The end of the pipeline: each block is freed when its variable goes out of scope.

#![forbid(unsafe_code)]

use satrap::{Error, println};
use stage::service::StartMessage;

satrap::contract!("blocks.wit");
satrap::main!(main);

fn main() -> Result<(), Error> {
    let mut filter = stage::Service::register("/example/sink")?.accept()?;
    let (mut blocks, mut bytes) = (0, 0);
    loop {
        filter = match filter.recv()? {
            StartMessage::Take { number, data, next } => {
                println!("sink: block {number}, {} bytes", data.len());
                blocks += 1;
                bytes += data.len();
                next
            }
            StartMessage::Done { next } => {
                println!("sink: {blocks} blocks, {bytes} bytes");
                return next.send_finished();
            }
        }
    }
}
