//! `bench-null N`: what a kernel call costs that does nothing.
//!
//! The loop is Wasm, so its own turn (under a nanosecond) is part of the figure.

#![forbid(unsafe_code)]

mod arguments;
mod batches;

use std::convert::Infallible;

use satrap::{println, raw};

satrap::main!(main);

fn main() -> Result<(), String> {
    let calls = arguments::number(1, 10_000_000)?;
    let Ok(each) = batches::each(calls, |_| {
        raw::null();
        Ok::<(), Infallible>(())
    });
    println!("calls={calls} ns_each={each:.3}");
    Ok(())
}
