//! Nothing unfinished is left behind, and nothing that holds on one machine only.
//!
//! The sought words are put together here so that this file does not contain them.

use super::{Finding, Tree, finding};

/// Words that mark a comment as a promise to come back.
const MARKS: &[&str] = &[
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("X", "XX"),
    concat!("HA", "CK"),
];
/// The same, in prose.
const PROSE: &[&str] = &[
    concat!("for", " now"),
    concat!("simpl", "ified"),
    concat!("place", "holder"),
];
/// Macros that stand for code to come.
const MACROS: &[&str] = &[
    concat!("todo", "!"),
    concat!("unimple", "mented!"),
    concat!("dbg", "!"),
];
/// Folders that only some machine has.
const PLACES: &[&str] = &[
    concat!("/ro", "ot/"),
    concat!("/wo", "rk/"),
    concat!("/ho", "me/"),
    concat!("/Us", "ers/"),
];

/// Comments and macros that say that something is missing.
pub fn unfinished(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for source in &tree.rust {
        for (line, comment) in &source.comments {
            let lower = comment.to_lowercase();
            let mark = MARKS.iter().find(|mark| stands_alone(comment, mark));
            if let Some(word) = mark.or_else(|| PROSE.iter().find(|word| stands_alone(&lower, word))) {
                found.push(finding(
                    &source.path,
                    *line,
                    format!("'{word}' in a comment: finish it, or file it"),
                ));
            }
        }
        for name in MACROS {
            for (at, _) in source.code.match_indices(name) {
                let inside = source.code[..at].ends_with(|c: char| c == '_' || c.is_alphanumeric());
                if !inside {
                    found.push(finding(
                        &source.path,
                        source.line(at),
                        format!("{name} must not be left behind"),
                    ));
                }
            }
        }
    }
    found
}

/// Absolute paths of somebody's machine, in any text file.
pub fn machine_paths(tree: &Tree) -> Vec<Finding> {
    let rust = tree.rust.iter().map(|source| (&source.path, &source.text));
    let mut found = Vec::new();
    for (path, text) in rust.chain(tree.other.iter().map(|(path, text)| (path, text))) {
        for (number, line) in text.lines().enumerate() {
            if let Some(place) = PLACES.iter().find(|place| starts_a_path(line, place)) {
                found.push(finding(
                    path,
                    number + 1,
                    format!("{place} is a path of one machine only"),
                ));
            }
        }
    }
    found
}

fn stands_alone(text: &str, word: &str) -> bool {
    let letter = |c: char| c == '_' || c.is_alphanumeric();
    text.match_indices(word)
        .any(|(at, _)| !text[..at].ends_with(letter) && !text[at + word.len()..].starts_with(letter))
}

/// Whether `place` begins a path in `line`, rather than being a part of a longer one.
fn starts_a_path(line: &str, place: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '/' | '}' | ')');
    line.match_indices(place)
        .any(|(at, _)| !line[..at].ends_with(part))
}

#[cfg(test)]
mod tests {
    use super::super::verdict;
    use super::*;

    #[test]
    fn an_unfinished_comment_or_macro_is_found_but_not_in_a_string() {
        let text = format!(
            "// {}: later\nlet a = \"{}\";\n{}();\n// It works {}.\n// mk{}\n",
            MARKS[0], MARKS[0], MACROS[0], PROSE[0], MARKS[2]
        );
        let found = verdict("unfinished", unfinished, &[("a.rs", &text)]);
        let lines: Vec<&str> = found.iter().map(|f| f.split(": ").next().unwrap_or("")).collect();
        assert_eq!(lines, ["a.rs:1", "a.rs:4", "a.rs:3"]);
    }

    #[test]
    fn a_path_of_one_machine_is_found_in_any_file() {
        let bad = format!("see {}notes\n", PLACES[0]);
        let good = format!("see target{}notes\n", PLACES[0]);
        let found = verdict("paths", machine_paths, &[("a.md", &bad), ("b.md", &good)]);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("a.md:1: "));
    }
}
