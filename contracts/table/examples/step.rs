//! Times one step of a table: `cargo run --release --example step`.
//!
//! The kernel steps at every message, so this is a part of each message's cost. The bench `lmp` measures the
//! whole.

use satrap_abi::Digest;
use satrap_table::{HandleKind, MessageRule, Side, Spec, StateSpec, Table, TransitionSpec};
use std::hint::black_box;
use std::time::Instant;

/// Steps that are timed.
const STEPS: u32 = 100_000_000;

fn main() {
    let number = MessageRule {
        inline_min: 8,
        inline_max: 8,
        ..MessageRule::EMPTY
    };
    let block = MessageRule {
        blocks_min: 1,
        blocks_max: 1,
        ..number
    };
    let state = |sender, next| StateSpec {
        sender,
        transitions: (0..2).map(|tag| TransitionSpec { tag, next }).collect(),
    };
    let spec = Spec {
        name: "satrap:example/step".into(),
        text_digest: Digest([0; 32]),
        states: vec![state(Side::Client, 1), state(Side::Service, 0)],
        rules: vec![number, block],
    };
    let bytes = spec.encode().expect("the contract is sound");
    let table = Table::parse(&bytes).expect("what was encoded parses");
    time("numbers alone", &table, 0, &[]);
    time("with a block", &table, 1, &[HandleKind::Block]);
}

/// Walks a table with two states around and around.
fn time(what: &str, table: &Table, tag: u16, handles: &[HandleKind]) {
    let mut state = Table::START;
    let begin = Instant::now();
    for _ in 0..STEPS / 2 {
        let (tag, handles) = (black_box(tag), black_box(handles));
        state = table
            .step(state, Side::Client, tag, 8, handles, false)
            .expect("the contract allows this step");
        state = table
            .step(state, Side::Service, tag, 8, handles, false)
            .expect("the contract allows this step");
    }
    let nanos = begin.elapsed().as_nanos() as f64 / f64::from(STEPS);
    println!("{what}: {nanos:.2} ns a step");
    assert_eq!(state, Table::START);
}
