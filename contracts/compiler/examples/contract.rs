//! Prints what the compiler makes of a contract: `cargo run --example contract -- [text|rust] FILE`.
//!
//! `text` is the canonical text that the digest is made of, `rust` the code that a guest compiles;
//! diagnostics go to standard error as `satrap contract check` shows them.

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [form, path] = &*arguments else {
        eprintln!("usage: contract text|rust FILE");
        return ExitCode::from(2);
    };
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("{path}: {error}");
            return ExitCode::FAILURE;
        }
    };
    match satrap_contract::generate(path, &text) {
        Ok(generated) if form == "rust" => print!("{}", generated.rust),
        Ok(generated) => {
            let contracts = generated
                .package
                .interfaces
                .iter()
                .filter_map(|interface| interface.contract.as_ref());
            contracts.for_each(|contract| println!("{}{}\n", contract.text, contract.digest));
        }
        Err(found) => {
            found.iter().for_each(|diagnostic| eprintln!("{diagnostic}"));
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
