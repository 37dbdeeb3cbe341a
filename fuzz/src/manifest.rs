//! An application's manifest, as its author wrote it: any text gives a manifest or diagnostics.
//!
//! What is accepted keeps its limits. Neighbours: `deploy/manifest` is under test, `overrides.rs` takes the rest
//! of what an operator types.

#![no_main]
#![forbid(unsafe_code)]

use libfuzzer_sys::fuzz_target;
use satrap_manifest::{INSTANCES_MAX, Manifest, PROCESSES_MAX};

fuzz_target!(|text: &str| {
    match Manifest::parse("Satrap.toml", text) {
        Ok(parsed) => {
            let processes = &parsed.manifest.processes;
            assert!(processes.len() <= PROCESSES_MAX as usize);
            assert!(processes.iter().all(|process| process.instances <= INSTANCES_MAX));
            parsed.manifest.instances();
            parsed.manifest.requests();
        }
        Err(diagnostics) => {
            assert!(!diagnostics.0.is_empty(), "refused without a reason");
            diagnostics.to_string();
        }
    }
});
