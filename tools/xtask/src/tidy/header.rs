//! Every Rust file opens with its role, its principles and its neighbours: `//!`, two to eight lines.
//!
//! Blank lines do not count, nor does what follows a heading or an example: a library's front page may be as
//! long as it has to. A test file may do with one line.

use super::source::Source;
use super::{Finding, Tree, finding};

const LONGEST: usize = 8;

/// The rule.
pub fn check(tree: &Tree) -> Vec<Finding> {
    tree.rust.iter().filter_map(judge).collect()
}

fn judge(source: &Source) -> Option<Finding> {
    let shortest = if source.is_test(0) { 1 } else { 2 };
    let lines = source
        .text
        .lines()
        .map_while(|line| line.strip_prefix("//!"))
        .map(str::trim);
    let opening = lines.take_while(|line| !line.starts_with('#') && !line.starts_with("```"));
    let count = opening.filter(|line| !line.is_empty()).count();
    let message = match count {
        0 => "begins without a //! that says its role".to_string(),
        _ if count < shortest => {
            format!("its //! has {count} line: add principles or neighbours ({shortest} to 8)")
        }
        _ if count > LONGEST => format!("its //! has {count} lines: {shortest} to {LONGEST} say enough"),
        _ => return None,
    };
    Some(finding(&source.path, 1, message))
}

#[cfg(test)]
mod tests {
    use super::super::verdict;
    use super::check;

    #[test]
    fn a_file_without_a_header_or_with_too_long_a_one_is_found() {
        let long = "//! x\n".repeat(9);
        let front_page = format!("//! x\n//! x\n//! # More\n{long}");
        let files = [
            ("a.rs", "fn a() {}"),
            ("b.rs", "//! One.\n//!\n//! Two.\n"),
            ("c.rs", &long),
            ("d.rs", "//! One.\n"),
            ("e.rs", &front_page),
        ];
        let found = verdict("header", check, &files);
        assert_eq!(found.len(), 3);
        assert!(found[0].starts_with("a.rs:1: begins without"));
        assert!(found[1].starts_with("c.rs:1: its //! has 9 lines"));
        assert!(found[2].starts_with("d.rs:1: its //! has 1 line"));
    }
}
