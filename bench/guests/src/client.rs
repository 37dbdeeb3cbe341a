//! `bench-lmp-client CASE BYTES N`: N messages through `bench-lmp-server`.
//!
//! Prints how many nanoseconds each took. The cases stand in `cases.rs`.

#![forbid(unsafe_code)]

mod arguments;
mod batches;
mod cases;
mod ends;

use satrap::println;

satrap::contract!("bench.wit");
satrap::main!(main);

fn main() -> Result<(), String> {
    let name = satrap::args()
        .into_iter()
        .nth(1)
        .unwrap_or_else(|| "inline".into());
    let case = cases::find(&name).ok_or_else(|| {
        let names: Vec<&str> = cases::CASES.iter().map(|(name, _)| *name).collect();
        format!("there is no case `{name}`: {}", names.join(", "))
    })?;
    let bytes = usize::try_from(arguments::number(2, 64)?).map_err(|error| error.to_string())?;
    let count = arguments::number(3, 100_000)?;
    let each = case(bytes, count).map_err(|error| error.to_string())?;
    println!("case={name} bytes={bytes} count={count} ns_each={each:.1}");
    Ok(())
}
