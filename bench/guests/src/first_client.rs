//! `bench-first-client`: sends one message as soon as it runs, to the channel `first`.
//!
//! The message carries the time at which `main` began. Neighbour: `bench-first-server` prints it.

#![forbid(unsafe_code)]

use satrap::{Error, time};

satrap::contract!("bench.wit");
satrap::main!(main);

fn main() -> Result<(), Error> {
    let began = time::now();
    bench::Client::bind("first")?.mark(began.as_nanos())
}
