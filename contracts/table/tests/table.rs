//! Behaviour of a table: what it allows, what it refuses, and that hostile bytes change nothing.

use proptest::prelude::*;
use satrap_abi::Digest;
use satrap_table::{
    BufferRule, HandleKind, MessageRule, Side, Spec, StateSpec, Table, TableError, TransitionSpec, Violation,
    encode_entry, entries, first_difference,
};

const DELIVER: u16 = 0;
const QUIT: u16 = 1;
const STORED: u16 = 2;
const END: u8 = 2;
const TEXT: &str = "contract satrap:mail/store@1.0.0\n";

/// `start = ?deliver -> scanning | ?quit -> end`, `scanning = !stored -> start`.
fn store() -> Spec {
    let deliver = MessageRule {
        inline_min: 8,
        inline_max: 64,
        spill: true,
        blocks_max: 2,
        endpoints_min: 1,
        endpoints_max: 1,
        ..MessageRule::EMPTY
    };
    let stored = MessageRule {
        inline_min: 8,
        inline_max: 8,
        buffer: BufferRule::Required,
        ..MessageRule::EMPTY
    };
    let to = |tag, next| TransitionSpec { tag, next };
    Spec {
        name: "satrap:mail/store@1.0.0".into(),
        text_digest: Digest(*blake3::hash(TEXT.as_bytes()).as_bytes()),
        states: vec![
            StateSpec {
                sender: Side::Client,
                transitions: vec![to(DELIVER, 1), to(QUIT, END)],
            },
            StateSpec {
                sender: Side::Service,
                transitions: vec![to(STORED, 0)],
            },
        ],
        rules: vec![deliver, MessageRule::EMPTY, stored],
    }
}

fn table() -> Table {
    Table::parse(&store().encode().unwrap()).unwrap()
}

#[test]
fn a_conversation_walks_its_states_to_the_end() {
    let table = table();
    let endpoint = [HandleKind::Endpoint];
    assert_eq!(
        table.step(Table::START, Side::Client, DELIVER, 8, &endpoint, false),
        Ok(1)
    );
    assert!(table.may_send(1, Side::Service) && !table.may_send(1, Side::Client));
    assert_eq!(table.step(1, Side::Service, STORED, 8, &[], true), Ok(0));
    assert_eq!(table.step(0, Side::Client, QUIT, 0, &[], false), Ok(END));
    assert!(table.is_end(END) && !table.is_end(0));
    assert!(!table.may_send(END, Side::Client) && !table.may_send(END, Side::Service));
}

#[test]
fn a_refusal_says_which_rule_was_broken() {
    let table = table();
    let step = |state, side, tag| table.step(state, side, tag, 0, &[], false);
    assert_eq!(step(END, Side::Client, QUIT), Err(Violation::Ended));
    assert_eq!(step(200, Side::Client, QUIT), Err(Violation::Ended));
    assert_eq!(step(0, Side::Service, STORED), Err(Violation::NotYourTurn));
    assert_eq!(step(1, Side::Client, QUIT), Err(Violation::NotYourTurn));
    assert_eq!(step(0, Side::Client, STORED), Err(Violation::WrongState));
    assert_eq!(step(0, Side::Client, 3), Err(Violation::UnknownMessage));
    assert_eq!(step(0, Side::Client, u16::MAX), Err(Violation::UnknownMessage));
}

#[test]
fn a_body_is_inline_or_spilled_to_one_more_block() {
    use HandleKind::{Block, Endpoint};
    let table = table();
    let step = |inline, handles: &[HandleKind]| table.step(0, Side::Client, DELIVER, inline, handles, false);
    assert_eq!(step(64, &[Block, Block, Endpoint]), Ok(1));
    assert_eq!(step(0, &[Block, Block, Block, Endpoint]), Ok(1));
    assert_eq!(
        step(0, &[Endpoint]),
        Err(Violation::Handles),
        "a spilled body without its block"
    );
    assert_eq!(
        step(64, &[Block, Block, Block, Endpoint]),
        Err(Violation::Handles)
    );
    assert_eq!(
        step(64, &[Block]),
        Err(Violation::Handles),
        "the endpoint is missing"
    );
    assert_eq!(step(7, &[Endpoint]), Err(Violation::InlineLength));
    assert_eq!(step(65, &[Endpoint]), Err(Violation::InlineLength));
    assert_eq!(
        table.step(1, Side::Service, STORED, 8, &[], false),
        Err(Violation::Buffer)
    );
    assert_eq!(
        table.step(0, Side::Client, QUIT, 0, &[], true),
        Err(Violation::Buffer)
    );
}

#[test]
fn a_lying_table_is_refused_and_the_reason_named() {
    let refused = |change: fn(&mut Spec)| {
        let mut spec = store();
        change(&mut spec);
        spec.encode().unwrap_err()
    };
    assert_eq!(refused(|spec| spec.states.clear()), TableError::StateCount);
    assert_eq!(
        refused(|spec| spec.states[0].transitions.clear()),
        TableError::Stuck
    );
    assert_eq!(
        refused(|spec| spec.states[0].transitions[0].next = 3),
        TableError::Transition
    );
    assert_eq!(
        refused(|spec| spec.states[0].transitions[0].tag = 3),
        TableError::Transition
    );
    assert_eq!(
        refused(|spec| spec.rules.resize(257, MessageRule::EMPTY)),
        TableError::MessageCount
    );
    assert_eq!(refused(|spec| spec.rules[0].inline_max = 65), TableError::Rule);
    assert_eq!(
        refused(|spec| spec.rules[0].blocks_max = 3),
        TableError::Rule,
        "five handles"
    );
    assert_eq!(refused(|spec| spec.rules[0].endpoints_min = 2), TableError::Rule);
    assert_eq!(refused(|spec| spec.name.clear()), TableError::Name);
    assert_eq!(refused(|spec| spec.name = "x".repeat(256)), TableError::Name);
    let bytes = store().encode().unwrap();
    assert_eq!(Table::parse(b"SATRAPC9").unwrap_err(), TableError::Magic);
    assert_eq!(
        Table::parse(&[&bytes[..], &[0]].concat()).unwrap_err(),
        TableError::TrailingBytes
    );
    for len in 0..bytes.len() {
        assert!(Table::parse(&bytes[..len]).is_err());
    }
}

#[test]
fn any_change_of_the_rules_changes_the_digest() {
    let mut other = store();
    other.states[0].transitions[1].next = 0;
    let other = Table::parse(&other.encode().unwrap()).unwrap();
    assert_ne!(other.digest(), table().digest());
    assert_eq!(other.text_digest(), table().text_digest());
}

#[test]
fn a_section_yields_its_entries_and_stops_at_garbage() {
    let bytes = store().encode().unwrap();
    let mut section = encode_entry(&bytes, TEXT);
    section.extend(encode_entry(&bytes, "another text"));
    let all: Vec<_> = entries(&section).map(|entry| entry.unwrap()).collect();
    assert_eq!(all.len(), 2);
    assert_eq!(all[0].parse().unwrap(), table());
    assert_eq!(all[0].text, TEXT);
    assert_eq!(
        all[1].parse().unwrap_err(),
        TableError::Text,
        "a text that is not the table's"
    );
    section.extend([9, 0, 0, 0, 1]);
    assert_eq!(entries(&section).last(), Some(Err(TableError::Truncated)));
    assert_eq!(entries(&section).count(), 3);
}

#[test]
fn the_first_difference_is_named() {
    let base = "contract x\nmessage a(n: u32)\nmessage c()\n";
    assert_eq!(first_difference(base, base), None);
    let changed = base.replace("u32", "u64");
    assert_eq!(
        first_difference(base, &changed).unwrap(),
        "`message a(n: u32)` on one side, `message a(n: u64)` on the other"
    );
    let added = base.replace("message c", "message b()\nmessage c");
    assert_eq!(
        first_difference(base, &added).unwrap(),
        "only the other side has `message b()`"
    );
    assert_eq!(
        first_difference(&added, base).unwrap(),
        "only one side has `message b()`"
    );
    let swapped = "contract x\nmessage c()\nmessage a(n: u32)\n";
    assert_eq!(
        first_difference(base, swapped).unwrap(),
        "the order of `message a(n: u32)`"
    );
}

fn rules() -> impl Strategy<Value = MessageRule> {
    (0..=64u8, 0..=64u8, any::<bool>(), 0..=1u8, 0..=1u8, any::<bool>()).prop_map(
        |(one, other, spill, blocks, endpoints, buffer)| MessageRule {
            inline_min: one.min(other),
            inline_max: one.max(other),
            spill,
            blocks_min: 0,
            blocks_max: blocks,
            endpoints_min: endpoints,
            endpoints_max: endpoints,
            buffer: if buffer {
                BufferRule::Required
            } else {
                BufferRule::Refused
            },
        },
    )
}

prop_compose! {
    fn specs()(states in 1..6usize, rules in prop::collection::vec(rules(), 1..6))(
        senders in prop::collection::vec(any::<bool>(), states),
        nexts in prop::collection::vec(prop::collection::vec(prop::option::of(0..=states as u8), rules.len()), states),
        rules in Just(rules),
    ) -> Spec {
        let state = |(client, row): (bool, Vec<Option<u8>>)| {
            let known = row.iter().enumerate().filter_map(|(tag, next)| next.map(|next| (tag as u16, next)));
            let mut transitions: Vec<_> = known.map(|(tag, next)| TransitionSpec { tag, next }).collect();
            if transitions.is_empty() {
                transitions.push(TransitionSpec { tag: 0, next: 0 });
            }
            StateSpec { sender: if client { Side::Client } else { Side::Service }, transitions }
        };
        let states = senders.into_iter().zip(nexts).map(state).collect();
        Spec { name: "a:b/c".into(), text_digest: Digest([7; 32]), states, rules }
    }
}

proptest! {
    /// The matrix answers as the specification does, looked up the slow way.
    #[test]
    fn a_step_agrees_with_the_specification(spec in specs(), state in 0..7u8, client: bool, tag in 0..7u16) {
        let table = Table::parse(&spec.encode().unwrap()).unwrap();
        let side = if client { Side::Client } else { Side::Service };
        let expected = spec.states.get(state as usize).filter(|entry| entry.sender == side).and_then(|entry| {
            entry.transitions.iter().find(|transition| transition.tag == tag)
        });
        let Some(rule) = spec.rules.get(tag as usize) else {
            prop_assert_eq!(table.step(state, side, tag, 0, &[], false), Err(Violation::UnknownMessage));
            return Ok(());
        };
        let handles = vec![HandleKind::Endpoint; rule.endpoints_min as usize];
        let buffer = rule.buffer == BufferRule::Required;
        let result = if rule.inline_min == 0 && rule.spill {
            let handles = [&[HandleKind::Block], &handles[..]].concat();
            table.step(state, side, tag, 0, &handles, buffer)
        } else {
            table.step(state, side, tag, rule.inline_min as usize, &handles, buffer)
        };
        prop_assert_eq!(result.ok(), expected.map(|transition| transition.next));
    }

    /// Bytes of a true table with a few of them changed either parse to a sound table or are refused.
    #[test]
    fn damaged_tables_never_panic(spec in specs(), damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
        let mut bytes = spec.encode().unwrap();
        for (at, value) in damage {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if let Ok(table) = Table::parse(&bytes) {
            for state in 0..=table.states() {
                for tag in 0..table.messages() {
                    let next = table.step(state, Side::Client, tag, 0, &[], false);
                    prop_assert!(next.is_err() || next.unwrap() <= table.states());
                }
            }
        }
    }

    /// Arbitrary sections never panic and always come to an end.
    #[test]
    fn arbitrary_sections_never_panic(section in prop::collection::vec(any::<u8>(), 0..200)) {
        for entry in entries(&section).flatten() {
            let _ = entry.parse();
        }
    }
}
