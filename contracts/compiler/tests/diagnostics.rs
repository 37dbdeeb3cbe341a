//! What the compiler says about each kind of mistake, letter by letter.
//!
//! `diagnostics/NAME.wit` is compiled, and what is said must be `diagnostics/NAME.txt`. Run with
//! `BLESS=1` to write the texts anew; then read them.

use std::fs;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics")
}

/// Everything the compiler says about a file.
fn said(name: &str) -> String {
    let text = fs::read_to_string(folder().join(format!("{name}.wit"))).unwrap();
    let found = match satrap_contract::generate(&format!("{name}.wit"), &text) {
        Ok(generated) => generated.warnings,
        Err(found) => found,
    };
    found.iter().map(|diagnostic| format!("{diagnostic}\n")).collect()
}

#[track_caller]
fn says_what_is_written(name: &str) {
    let path = folder().join(format!("{name}.txt"));
    let actual = said(name);
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &actual).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap();
    assert_eq!(actual, expected, "\n--- said\n{actual}\n--- expected\n{expected}");
}

#[test]
fn a_syntax_error_is_shown_in_its_place() {
    says_what_is_written("syntax");
}

#[test]
fn unknown_undefined_and_double_names_are_errors() {
    says_what_is_written("names");
}

#[test]
fn mixed_stuck_unreachable_states_and_unused_messages_are_errors() {
    says_what_is_written("order");
}

#[test]
fn the_protocol_is_read_on_after_a_mistake() {
    says_what_is_written("grammar");
}

#[test]
fn messages_need_a_protocol() {
    says_what_is_written("missing");
}

#[test]
fn messages_that_cannot_travel_are_errors() {
    says_what_is_written("messages");
}

#[test]
fn an_endpoint_must_name_a_contract_that_exists() {
    says_what_is_written("endpoints");
}

#[test]
fn a_foreign_package_is_an_error() {
    says_what_is_written("package");
}

#[test]
fn a_conversation_without_end_is_a_warning() {
    says_what_is_written("never-ends");
}

#[test]
fn names_that_clash_in_rust_are_errors() {
    says_what_is_written("rust-names");
}
