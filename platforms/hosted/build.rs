//! Compiles the contracts of the native drivers: their tables, and where each message's parameters stand.
//!
//! The drivers encode by hand (`src/net/wire.rs`), so the layout comes from the contract itself and a change of
//! the WIT file cannot pass unnoticed. Neighbours: `contracts/compiler`, `services/net/net.wit`.

use satrap_contract::{Contract, Message};
use std::{env, fmt::Write, fs, path::PathBuf, process::ExitCode};

const NET: &str = "../../services/net/net.wit";

fn main() -> ExitCode {
    println!("cargo::rerun-if-changed={NET}");
    match generate(NET).and_then(|code| save("net_contracts.rs", &code)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::FAILURE
        }
    }
}

fn generate(file: &str) -> Result<String, String> {
    let text = fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let checked = satrap_contract::check(file, &text).map_err(|found| {
        let lines: Vec<String> = found.iter().map(ToString::to_string).collect();
        lines.join("\n")
    })?;
    let mut code = String::new();
    for interface in &checked.package.interfaces {
        if let Some(contract) = &interface.contract {
            code += &module(&interface.name, contract);
        }
    }
    Ok(code)
}

fn module(name: &str, contract: &Contract) -> String {
    let mut code = format!(
        "/// `{}`.\npub mod {} {{\n    /// The table that the kernel enforces.\n    pub const TABLE: &[u8] = &{:?};\n",
        contract.name,
        name.replace('-', "_"),
        contract.table
    );
    for (tag, message) in contract.messages.iter().enumerate() {
        code += &constants(tag, message);
    }
    code + "}\n"
}

fn constants(tag: usize, message: &Message) -> String {
    let mut code = format!(
        "    /// The message `{0}`.\n    pub mod {1} {{\n        /// Its tag.\n        pub const TAG: u16 = {tag};\n        \
         /// Bytes of its fixed part.\n        pub const FIXED: usize = {2};\n",
        message.name,
        message.name.replace('-', "_"),
        message.fixed
    );
    for parameter in &message.parameters {
        let constant = parameter.name.replace('-', "_").to_uppercase();
        // Writing to a string cannot fail.
        let _ = writeln!(
            code,
            "        /// Where `{}` stands.\n        pub const {constant}: usize = {};",
            parameter.name, parameter.offset
        );
    }
    code + "    }\n"
}

fn save(name: &str, code: &str) -> Result<(), String> {
    let folder = env::var_os("OUT_DIR").ok_or("cargo runs this")?;
    let file = PathBuf::from(folder).join(name);
    fs::write(&file, code).map_err(|error| format!("{}: {error}", file.display()))
}
