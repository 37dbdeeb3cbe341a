//! `bench-yield T N`: T threads yield N times each (Helios §4.5.1, figure 9).
//!
//! Prints the machine's clock at both ends, so that runs of several processes can be put on one time line.

#![forbid(unsafe_code)]

mod arguments;

use satrap::{println, thread, time};

satrap::main!(main);

fn main() -> Result<(), String> {
    let (threads, yields) = (arguments::number(1, 16)?, arguments::number(2, 1_000_000)?);
    let start = time::now();
    let mut running = Vec::new();
    for _ in 0..threads {
        let thread = thread::Builder::new().stack_size(16 << 10).spawn(move || {
            for _ in 0..yields {
                thread::yield_now();
            }
        });
        running.push(thread.map_err(|error| error.to_string())?);
    }
    for thread in running {
        thread.join().map_err(|error| error.to_string())?;
    }
    let end = time::now();
    println!(
        "threads={threads} yields={yields} start_ns={} end_ns={} ns_per_yield={:.3}",
        start.as_nanos(),
        end.as_nanos(),
        (end - start).as_nanos() as f64 / (threads * yields) as f64,
    );
    Ok(())
}
