//! `bench-null N`: what a kernel call costs that does nothing.
//!
//! The loop is Wasm, so its own turn (under a nanosecond) is part of the figure.

#![forbid(unsafe_code)]

mod arguments;

use satrap::{println, raw, time};

satrap::main!(main);

fn main() -> Result<(), String> {
    let calls = arguments::number(1, 10_000_000)?;
    let start = time::now();
    for _ in 0..calls {
        raw::null();
    }
    let elapsed = start.elapsed();
    println!(
        "calls={calls} ns={} ns_per_call={:.3}",
        elapsed.as_nanos(),
        elapsed.as_nanos() as f64 / calls as f64
    );
    Ok(())
}
