//! What an operator types: affinity overrides, sizes, identifiers and paths of the namespace.
//!
//! The text is tried as each of them, and an override that is understood is applied to a manifest that has what
//! it may name. Neighbour: `manifest.rs`.

#![no_main]
#![forbid(unsafe_code)]

use libfuzzer_sys::fuzz_target;
use satrap_manifest::{Manifest, Override, check_identifier, check_path, parse_size};

const MANIFEST: &str = r#"
[application]
name = "a"
version = "1.0.0"

[[process]]
name = "p"
program = "p.wasm"

[process.channels.c]
path = "/c"
"#;

fuzz_target!(|text: &str| {
    if check_identifier(text).is_ok() {
        assert!(
            check_path(&format!("/{text}")).is_ok(),
            "an identifier is a path's component"
        );
    }
    let _ = (check_path(text), parse_size(text));
    match text.parse::<Override>() {
        Ok(wish) => {
            let mut manifest = Manifest::parse("Satrap.toml", MANIFEST)
                .expect("the manifest above is sound")
                .manifest;
            let before = manifest.clone();
            if manifest.apply(&[wish]).is_err() {
                assert!(manifest == before, "a refused override changed something");
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
