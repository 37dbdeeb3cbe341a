//! A program's contract section, as a hostile program carries it: tables are parsed and stepped through.
//!
//! Whatever parses must hold what the kernel relies on: a step leads to a state that exists, and never when it
//! is the other side's turn. Neighbour: `contracts/table` is under test.

#![no_main]
#![forbid(unsafe_code)]

use libfuzzer_sys::fuzz_target;
use satrap_table::{Entry, HandleKind, Side, Table, entries, first_difference};

/// Steps that one input may take.
const STEPS: usize = 256;

fuzz_target!(|data: &[u8]| {
    let mut last: Option<Entry<'_>> = None;
    for entry in entries(data).map_while(Result::ok) {
        let _ = entry.parse();
        if let Some(last) = last {
            let difference = first_difference(last.text, entry.text);
            assert_eq!(difference.is_none(), last.text == entry.text);
        }
        last = Some(entry);
    }
    if let Ok(table) = Table::parse(data) {
        walk(&table, data);
    }
});

fn walk(table: &Table, script: &[u8]) {
    const HANDLES: [HandleKind; 4] = [
        HandleKind::Block,
        HandleKind::Block,
        HandleKind::Endpoint,
        HandleKind::Endpoint,
    ];
    let mut state = Table::START;
    for word in script.chunks_exact(4).take(STEPS) {
        let (tag, sender) = (
            u16::from(word[0]),
            if word[1] & 1 == 0 {
                Side::Client
            } else {
                Side::Service
            },
        );
        let count = usize::from(word[1] >> 1) % 5;
        let buffer = word[1] & 0x80 != 0;
        if let Ok(next) = table.step(
            state,
            sender,
            tag,
            usize::from(word[2]),
            &HANDLES[..count],
            buffer,
        ) {
            assert!(table.may_send(state, sender) && table.rule(tag).is_some());
            assert!(next < table.states() || table.is_end(next));
            state = if table.is_end(next) {
                word[3] % table.states().max(1)
            } else {
                next
            };
        }
    }
}
