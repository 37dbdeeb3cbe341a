//! A contract, as its author wrote it: any text gives code and tables, or diagnostics that point into it.
//!
//! What is accepted must agree with the kernel: every table that comes out parses there, and the same contract
//! gives the same code again. Neighbours: `contracts/compiler` is under test; `table.rs` feeds the kernel's half.

#![no_main]
#![forbid(unsafe_code)]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match satrap_contract::check("contract.wit", text) {
        Ok(_) => {
            let first = satrap_contract::generate("contract.wit", text).map(|generated| generated.rust);
            let again = satrap_contract::generate("contract.wit", text).map(|generated| generated.rust);
            assert!(
                first.is_ok() == again.is_ok() && first.ok() == again.ok(),
                "not the same twice"
            );
        }
        Err(diagnostics) => {
            assert!(!diagnostics.is_empty(), "refused without a reason");
            diagnostics
                .iter()
                .for_each(|diagnostic| drop(diagnostic.to_string()));
        }
    }
});
