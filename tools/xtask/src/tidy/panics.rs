//! No `unwrap` outside tests, and no `expect` that does not state the invariant it relies on.
//!
//! An invariant is a message of three words or more, or a comment on the lines just above.

use super::source::Source;
use super::{Finding, Tree, finding};

const WORDS: usize = 3;
const ABOVE: usize = 2;

/// The rule.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for source in &tree.rust {
        let mut add = |at: usize, message: &str| {
            if !source.is_test(at) {
                found.push(finding(&source.path, source.line(at), message));
            }
        };
        for (at, _) in source.code.match_indices(".unwrap()") {
            add(at, "unwrap: handle it, or state the invariant with expect");
        }
        for (at, call) in source.code.match_indices(".expect(") {
            let argument = source.code[at + call.len()..].trim_start();
            if argument.starts_with('"') && !states_an_invariant(source, at) {
                add(
                    at,
                    "expect: state the invariant it relies on, in the message or just above",
                );
            }
        }
    }
    found
}

fn states_an_invariant(source: &Source, at: usize) -> bool {
    let message = source.text[at..].split('"').nth(1).unwrap_or("");
    let line = source.line(at);
    message.split_whitespace().count() >= WORDS
        || source
            .comments_between(line.saturating_sub(ABOVE), line)
            .next()
            .is_some()
}

#[cfg(test)]
mod tests {
    use super::super::verdict;
    use super::check;

    #[test]
    fn a_panic_without_an_invariant_is_found_outside_tests() {
        let text = "fn a() {\n    b().unwrap();\n    c().expect(\"no\");\n    d().expect(\"the list was filled above\");\n\
                    \n\n    // A digest has 32 bytes.\n    e().expect(\"32\");\n    parser.expect(Token::Dot);\n}\n\
                    #[test]\nfn t() {\n    b().unwrap();\n}\n";
        let found = verdict("panics", check, &[("a.rs", text)]);
        assert_eq!(found.len(), 2);
        assert!(found[0].starts_with("a.rs:2: unwrap") && found[1].starts_with("a.rs:3: expect"));
    }

    #[test]
    fn all_of_a_test_module_is_a_test() {
        let bare = "fn a() {\n    b().unwrap();\n}\n";
        let files = [
            ("a/Cargo.toml", "[package]\nname = \"a\"\n"),
            ("a/src/lib.rs", "#[cfg(test)]\nmod model;\nmod other;\n"),
            ("a/src/model.rs", "mod parts;\n"),
            ("a/src/model/parts.rs", bare),
            ("a/src/other.rs", bare),
        ];
        let found = verdict("panics-modules", check, &files);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("a/src/other.rs:2: unwrap"));
    }
}
