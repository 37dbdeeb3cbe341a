//! The first difference between two canonical texts: the reason in a refused bind.
//!
//! Canonical texts have one item to a line in a fixed order, so lines can be compared as they stand.

use alloc::format;
use alloc::string::String;

/// Longest excerpt of a line, in characters.
const EXCERPT: usize = 120;

/// Says what differs first, `a` being "one side" and `b` "the other". `None` if nothing does.
///
/// A line that the other text lacks entirely is an added item; otherwise two versions of an item are shown.
pub fn first_difference(a: &str, b: &str) -> Option<String> {
    let mut left = a.lines();
    let mut right = b.lines();
    loop {
        match (left.next(), right.next()) {
            (None, None) => return (a != b).then(|| String::from("line endings")),
            (Some(one), Some(other)) if one == other => {}
            (one, other) => return Some(describe(one, other, a, b)),
        }
    }
}

fn describe(one: Option<&str>, other: Option<&str>, a: &str, b: &str) -> String {
    let only_one = one.filter(|line| !b.lines().any(|candidate| candidate == *line));
    let only_other = other.filter(|line| !a.lines().any(|candidate| candidate == *line));
    match (only_one, only_other) {
        (Some(one), Some(other)) => {
            let from = common_prefix(one, other).saturating_sub(EXCERPT / 2);
            format!(
                "`{}` on one side, `{}` on the other",
                excerpt(one, from),
                excerpt(other, from)
            )
        }
        (Some(line), None) => format!("only one side has `{}`", excerpt(line, 0)),
        (None, Some(line)) => format!("only the other side has `{}`", excerpt(line, 0)),
        (None, None) => {
            format!("the order of `{}`", excerpt(one.or(other).unwrap_or_default(), 0))
        }
    }
}

/// How many leading characters two lines share.
fn common_prefix(one: &str, other: &str) -> usize {
    one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count()
}

/// A part of a line, from a character on, short enough for an error message.
fn excerpt(line: &str, from: usize) -> String {
    let part: String = line.chars().skip(from).take(EXCERPT).collect();
    let head = if from > 0 { "…" } else { "" };
    let tail = if line.chars().count() > from + EXCERPT {
        "…"
    } else {
        ""
    };
    format!("{head}{part}{tail}")
}
