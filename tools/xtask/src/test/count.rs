//! How many tests passed and failed, read from what a command wrote.
//!
//! A command that is not a test harness counts as one test: it passed or it failed.

use crate::process::Logged;
use std::ops::Add;

/// Tests passed and failed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Count {
    /// Passed.
    pub passed: u32,
    /// Failed.
    pub failed: u32,
}

impl Add for Count {
    type Output = Count;

    fn add(self, other: Count) -> Count {
        Count {
            passed: self.passed + other.passed,
            failed: self.failed + other.failed,
        }
    }
}

impl Count {
    /// What a command's output and end amount to.
    pub fn of(done: &Logged) -> Count {
        let results: Vec<Count> = done.text.lines().filter_map(harness_result).collect();
        let sum = results.iter().fold(Count::default(), |sum, each| sum + *each);
        if done.success && results.is_empty() {
            return Count { passed: 1, failed: 0 };
        }
        // One that failed without a failed test did not compile, crashed, or took too long.
        let failed = if done.success {
            sum.failed
        } else {
            sum.failed.max(1)
        };
        Count { failed, ..sum }
    }

    /// In words.
    pub fn describe(self) -> String {
        match self {
            Count { passed, failed: 0 } => format!("{passed} passed"),
            Count { passed, failed } => format!("{passed} passed, {failed} failed"),
        }
    }
}

/// The counts of a line such as `test result: ok. 5 passed; 0 failed; 1 ignored; ...`.
fn harness_result(line: &str) -> Option<Count> {
    let counts = line.strip_prefix("test result: ")?.split_once(". ")?.1;
    let number = |word: &str| {
        let part = counts.split(';').find(|part| part.trim().ends_with(word))?;
        part.split_whitespace().next()?.parse().ok()
    };
    Some(Count {
        passed: number(" passed")?,
        failed: number(" failed")?,
    })
}

const SHOWN: usize = 60;
/// Rustc's own command lines are longer than anybody reads.
const WIDTH: usize = 300;

/// The part of a failed command's output that says why: compiler errors, or the harness's list of failures.
pub fn essence(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let start =
        |line: &&str| line.starts_with("error") || **line == *"failures:" || line.starts_with("---- ");
    let first = lines
        .iter()
        .position(start)
        .unwrap_or_else(|| lines.len().saturating_sub(SHOWN));
    let shown = lines[first..lines.len().min(first + SHOWN)].iter();
    let shown = shown.map(|line| {
        line.char_indices()
            .nth(WIDTH)
            .map_or(*line, |(end, _)| &line[..end])
    });
    shown
        .map(|line| format!("    {line}\n"))
        .collect::<String>()
        .trim_end()
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(success: bool, text: &str) -> (u32, u32) {
        let count = Count::of(&Logged {
            success,
            text: text.to_string(),
        });
        (count.passed, count.failed)
    }

    const FIVE: &str = "test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out";
    const TWO_BAD: &str = "test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out";

    #[test]
    fn the_results_of_all_harnesses_are_summed() {
        assert_eq!(count(false, &format!("noise\n{FIVE}\n{TWO_BAD}\n")), (8, 2));
    }

    #[test]
    fn a_command_without_a_harness_is_one_test() {
        assert_eq!(count(true, "built\n"), (1, 0));
        assert_eq!(count(false, "error: no\n"), (0, 1));
    }

    #[test]
    fn a_crash_after_good_tests_still_fails() {
        assert_eq!(count(false, FIVE), (5, 1));
    }

    #[test]
    fn the_essence_starts_at_the_first_error() {
        assert_eq!(
            essence("Compiling x\nerror: no such thing\n --> a.rs\n"),
            "    error: no such thing\n     --> a.rs"
        );
    }
}
