//! The table for people.
//!
//! Each figure stands beside its baseline and its goal, and why it is what it is below. `figure.rs` is one
//! line of it; the JSON says the same.

use crate::benches::Outcome;
use crate::figure::{Figure, Number};

const HEAD: [&str; 7] = ["bench", "case", "value", "baseline", "", "ratio", "goal"];
/// Columns of numbers stand to the right.
const RIGHT: [bool; 7] = [false, false, true, false, true, true, false];

/// All outcomes as one table, each bench followed by what limits it.
pub fn table(outcomes: &[Outcome]) -> String {
    let blocks: Vec<Vec<[String; 7]>> = outcomes
        .iter()
        .map(|outcome| outcome.figures.iter().map(row).collect())
        .collect();
    let mut widths = HEAD.map(str::len);
    for row in blocks.iter().flatten() {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut text = line(&HEAD.map(String::from), &widths);
    for (rows, outcome) in blocks.iter().zip(outcomes) {
        text.push('\n');
        rows.iter().for_each(|row| text.push_str(&line(row, &widths)));
        text.push_str(&wrap(&outcome.limit, widths.iter().sum::<usize>() + 2 * 6));
    }
    text
}

/// The last line: how many goals were met.
pub fn verdict(outcomes: &[Outcome]) -> String {
    let goals: Vec<bool> = outcomes
        .iter()
        .flat_map(|outcome| &outcome.figures)
        .filter_map(|figure| figure.met)
        .collect();
    let met = goals.iter().filter(|met| **met).count();
    format!("{met} of {} goals met\n", goals.len())
}

fn row(figure: &Figure) -> [String; 7] {
    let goal = match (&figure.goal, figure.met) {
        (Some(goal), Some(true)) => format!("{goal}  yes"),
        (Some(goal), _) => format!("{goal}  NO"),
        (None, _) => String::new(),
    };
    [
        figure.bench.to_owned(),
        figure.case.clone(),
        with_spread(figure.value, figure.unit, figure.spread),
        figure.baseline.clone(),
        with_spread(figure.baseline_value, figure.unit, figure.baseline_spread),
        Number(figure.ratio).to_string(),
        goal,
    ]
}

fn with_spread(value: f64, unit: &str, spread: f64) -> String {
    format!("{} {unit} ±{:>2.0}%", Number(value), spread * 100.0)
}

fn line(cells: &[String; 7], widths: &[usize; 7]) -> String {
    let mut text = String::new();
    for ((cell, width), right) in cells.iter().zip(widths).zip(RIGHT) {
        let width = *width;
        text.push_str(&match right {
            true => format!("{cell:>width$}  "),
            false => format!("{cell:<width$}  "),
        });
    }
    format!("{}\n", text.trim_end())
}

/// Indented lines of at most `width` characters.
fn wrap(text: &str, width: usize) -> String {
    const INDENT: &str = "       ";
    let (mut wrapped, mut used) = (String::from(INDENT), INDENT.len());
    for word in text.split_whitespace() {
        if used + word.len() > width && used > INDENT.len() {
            wrapped.truncate(wrapped.trim_end().len());
            wrapped.push('\n');
            wrapped.push_str(INDENT);
            used = INDENT.len();
        }
        wrapped.push_str(word);
        wrapped.push(' ');
        used += word.chars().count() + 1;
    }
    format!("{}\n", wrapped.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(met: bool) -> Outcome {
        Outcome {
            figures: vec![Figure {
                bench: "abi",
                case: "null".into(),
                value: 4.0,
                unit: "ns",
                baseline: "getppid".into(),
                baseline_value: 200.0,
                ratio: 0.02,
                goal: Some("ratio <= 1/25".into()),
                met: Some(met),
                spread: 0.01,
                baseline_spread: 0.02,
            }],
            limit: "what it is".into(),
        }
    }

    #[test]
    fn columns_are_aligned_and_the_limit_follows() {
        let table = table(&[outcome(true)]);
        let lines: Vec<&str> = table.lines().collect();
        let end = |line: &str, word: &str| line.find(word).map(|at| line[..at].chars().count() + word.len());
        assert_eq!(end(lines[0], "value"), end(lines[2], "%"));
        assert!(lines[2].ends_with("ratio <= 1/25  yes"));
        assert_eq!(lines[3], "       what it is");
    }

    #[test]
    fn a_missed_goal_is_counted_as_missed() {
        assert_eq!(verdict(&[outcome(true), outcome(false)]), "1 of 2 goals met\n");
        assert!(table(&[outcome(false)]).contains("NO"));
    }

    #[test]
    fn long_text_is_wrapped_between_words() {
        assert_eq!(wrap("aaa bbb ccc", 14), "       aaa bbb\n       ccc\n");
        assert_eq!(wrap("aaa bbb", 13), "       aaa\n       bbb\n");
    }
}
