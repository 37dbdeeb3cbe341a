//! Arguments in, lines out, and a choice of how to end.
//!
//! `--code N` ends with N; an error that `main` returns is printed and ends with 1.

#![forbid(unsafe_code)]

use satrap::{eprintln, println};

satrap::main!(main);

fn main() -> Result<(), String> {
    let arguments = satrap::args();
    for (index, argument) in arguments.iter().enumerate() {
        println!("{index}: {argument}");
    }
    match arguments
        .iter()
        .skip_while(|argument| *argument != "--code")
        .nth(1)
    {
        None if arguments.iter().any(|argument| argument == "--code") => Err("--code needs a number".into()),
        None => Ok(()),
        Some(text) => {
            let code = text.parse().map_err(|error| format!("--code {text}: {error}"))?;
            eprintln!("ending with code {code}");
            satrap::exit(code)
        }
    }
}
