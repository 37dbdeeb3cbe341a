//! What makes two contracts the same, and that no text makes the compiler panic.

use proptest::prelude::*;
use satrap_contract::{Contract, check};
use satrap_table::{Side, Table, entries, first_difference};

const STORE: &str = "
package satrap:mail@1.0.0;

interface types {
    record envelope { sender: string, receivers: list<string> }
}

/// @protocol
///   start    = ?deliver -> scanning | ?quit -> end
///   scanning = !stored -> start | !rejected -> start
interface store {
    use types.{envelope};
    type id = u64;
    deliver: func(envelope: envelope, body: list<u8>);
    stored: func(id: id);
    rejected: func(reason: string);
    quit: func();
}
";

/// The only contract of a file.
fn contract(text: &str) -> Contract {
    let checked = check("store.wit", text).unwrap_or_else(|found| panic!("{}", found[0]));
    let mut contracts = checked
        .package
        .interfaces
        .into_iter()
        .filter_map(|interface| interface.contract);
    contracts.next().unwrap()
}

#[test]
fn the_canonical_text_is_what_the_documentation_shows() {
    assert_eq!(
        contract(STORE).text,
        "contract satrap:mail/store@1.0.0
wire 1
type envelope = record { sender: string, receivers: list<string> }
message deliver(envelope: envelope, body: list<u8>)
message quit()
message rejected(reason: string)
message stored(id: u64)
state start = ?deliver -> scanning | ?quit -> end
state scanning = !rejected -> start | !stored -> start
"
    );
}

#[test]
fn what_does_not_matter_does_not_change_the_digest() {
    let original = contract(STORE);
    let same = [
        ("    quit: func();\n", ""),
        (
            "    deliver:",
            "    quit: func();\n    /// Hands over a mail.\n    deliver:",
        ),
        (
            "= !stored -> start | !rejected -> start",
            "= !rejected -> start\n///  | !stored\n///    -> start",
        ),
        ("stored: func(id: id)", "stored: func(id: u64)"),
        ("/// @protocol", "/// A store.\n///\n/// @protocol"),
    ];
    let rewritten = same.iter().fold(STORE.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1)
    });
    assert_eq!(contract(&rewritten).digest, original.digest);
    let moved = STORE.replace(
        "interface types {\n    record envelope { sender: string, receivers: list<string> }\n}\n",
        "",
    );
    let moved = moved.replace(
        "use types.{envelope};",
        "record envelope { sender: string, receivers: list<string> }",
    );
    assert_eq!(contract(&moved).digest, original.digest);
}

#[test]
fn what_matters_changes_the_digest_and_is_named() {
    let original = contract(STORE);
    for (from, to, said) in [
        (
            "1.0.0",
            "1.0.1",
            "`contract satrap:mail/store@1.0.0` on one side, `contract satrap:mail/store@1.0.1` on the other",
        ),
        (
            "(reason: string)",
            "(why: string)",
            "`message rejected(reason: string)` on one side, `message rejected(why: string)` on the other",
        ),
        (
            "sender: string,",
            "",
            "`type envelope = record { sender: string, receivers: list<string> }` on one side, `type envelope = record { receivers: list<string> }` on the other",
        ),
        (
            "?quit -> end",
            "?quit -> start",
            "`state start = ?deliver -> scanning | ?quit -> end` on one side, `state start = ?deliver -> scanning | ?quit -> start` on the other",
        ),
    ] {
        let changed = contract(&STORE.replacen(from, to, 1));
        assert_ne!(changed.digest, original.digest, "{to}");
        assert_eq!(first_difference(&original.text, &changed.text).unwrap(), said);
    }
}

#[test]
fn the_table_says_what_the_protocol_says() {
    let contract = contract(STORE);
    let entry = satrap_table::encode_entry(&contract.table, &contract.text);
    let table: Table = entries(&entry).next().unwrap().unwrap().parse().unwrap();
    assert_eq!(
        (table.name(), table.digest()),
        ("satrap:mail/store@1.0.0", contract.digest)
    );
    let (deliver, quit, stored) = (0, 1, 3);
    assert_eq!(table.step(0, Side::Client, deliver, 24, &[], false), Ok(1));
    assert_eq!(table.step(1, Side::Service, stored, 8, &[], false), Ok(0));
    assert_eq!(table.step(0, Side::Client, quit, 0, &[], false), Ok(2));
    assert!(table.is_end(2));
}

#[test]
fn a_diagnostic_fits_on_one_line_for_tools() {
    let found = check("store.wit", &STORE.replace("?quit", "?quti")).unwrap_err();
    assert_eq!(found[0].summary(), "store.wit:9:42: unknown message `quti`");
}

/// Pieces that protocols and interfaces are made of.
fn pieces() -> impl Strategy<Value = String> {
    let words = [
        "start",
        "end",
        "busy",
        "ask",
        "?",
        "!",
        "->",
        "-",
        "|",
        "=",
        "\n///",
        "\n",
        " ",
        "ß",
        "@protocol",
        "interface x {",
        "}",
        "ask: func();",
        "func",
        "list<",
        ">",
        "package a:b;",
        "record r { a: u8 }",
        "//",
    ];
    prop::collection::vec(prop::sample::select(words.to_vec()), 0..30).prop_map(|words| words.concat())
}

proptest! {
    #[test]
    fn no_protocol_makes_the_compiler_panic(protocol in pieces()) {
        let text = format!("package a:b;\n/// @protocol\n///{protocol}\ninterface x {{ ask: func(); }}");
        if let Err(found) = check("x.wit", &text) {
            prop_assert!(!found.is_empty());
            found.iter().for_each(|diagnostic| _ = diagnostic.to_string());
        }
    }

    #[test]
    fn no_text_makes_the_compiler_panic(text in pieces(), at: prop::sample::Index) {
        let mut damaged = STORE.to_owned();
        let at = at.index(STORE.len());
        damaged.insert_str(at, &text);
        for text in [text, damaged] {
            if let Err(found) = check("x.wit", &text) {
                found.iter().for_each(|diagnostic| _ = diagnostic.to_string());
            }
        }
    }
}
