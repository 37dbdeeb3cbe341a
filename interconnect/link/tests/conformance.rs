//! The rings and doorbells of this crate pass the suite.

mod common;

use common::{Local, Satellite, Shared};
use satrap_link::conformance;

#[test]
fn local_rings_conform() {
    conformance::ring::<Local>();
}

#[test]
fn rings_in_shared_memory_conform() {
    conformance::ring::<Shared>();
}

#[test]
fn doorbells_of_an_attention_word_conform() {
    conformance::doorbell::<Satellite>();
}
