//! A decision as a table for people: plain text, aligned, no colour (that is the command line's business).
//! Machines get the same by serialising [`Decision`].

use std::fmt::{self, Write as _};

use crate::decide::{Candidate, Decision, Pass, Verdict};
use crate::plan::Plan;

const HEADINGS: [&str; 8] = [
    "kernel",
    "platforms",
    "platform",
    "positive",
    "negative",
    "load",
    "verdict",
    "would win with",
];
/// Columns of numbers stand to the right.
const RIGHT: [bool; 8] = [false, false, true, true, true, true, false, false];

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} -> kernel {}, decided by {}",
            self.process, self.kernel, self.decided_by
        )?;
        let rows: Vec<[String; 8]> = self
            .candidates
            .iter()
            .map(|candidate| self.row(candidate))
            .collect();
        f.write_str(&table(&HEADINGS, &RIGHT, &rows))?;
        for candidate in self
            .candidates
            .iter()
            .filter(|candidate| !candidate.terms.is_empty())
        {
            writeln!(f, "  on kernel {}: {}", candidate.kernel, terms(candidate))?;
        }
        match self.smallest_change() {
            Some(change) => writeln!(
                f,
                "  smallest change that moves it: --affinity {change} (now {}) -> kernel {}",
                change.from, change.kernel
            ),
            None if self.candidates.len() == 1 => Ok(()),
            None => writeln!(f, "  no single affinity would move it"),
        }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut gap = "";
        for decision in &self.decisions {
            write!(f, "{gap}{decision}")?;
            gap = "\n";
        }
        for refusal in &self.refusals {
            writeln!(f, "{gap}error: {refusal}")?;
            gap = "";
        }
        Ok(())
    }
}

impl Decision {
    fn row(&self, candidate: &Candidate) -> [String; 8] {
        let mark = if candidate.verdict == Verdict::Chosen {
            "*"
        } else {
            " "
        };
        [
            format!("{mark} {}", candidate.kernel),
            candidate.platforms.join(", "),
            candidate.platform.to_string(),
            candidate.positive.to_string(),
            candidate.negative.to_string(),
            percent(candidate.load),
            self.verdict(candidate),
            candidate
                .wins_if
                .as_ref()
                .map_or(String::new(), |change| format!("--affinity {change}")),
        ]
    }

    /// Why a candidate fell out: its number and the one that beat it.
    fn verdict(&self, candidate: &Candidate) -> String {
        let Verdict::Out(pass) = candidate.verdict else {
            return "chosen".to_string();
        };
        // Whoever wins was kept by every pass, so it had the best number in each.
        let Some(winner) = self
            .candidates
            .iter()
            .find(|each| each.verdict == Verdict::Chosen)
        else {
            return String::new();
        };
        match pass {
            Pass::OnlyKernel => String::new(),
            Pass::Platform => format!("out: platform {} < {}", candidate.platform, winner.platform),
            Pass::Positive => format!("out: positive {} < {}", candidate.positive, winner.positive),
            Pass::Negative => format!("out: negative {} < {}", candidate.negative, winner.negative),
            Pass::Load => format!("out: load {} > {}", percent(candidate.load), percent(winner.load)),
            Pass::Number => format!("out: alike, number {} > {}", candidate.kernel, winner.kernel),
        }
    }
}

fn percent(load: f64) -> String {
    format!("{:.1}%", load * 100.0)
}

/// `store 2 x 1 copy at /mail/store = 2; ...`
fn terms(candidate: &Candidate) -> String {
    let terms = candidate.terms.iter().map(|term| {
        let copies = if term.copies == 1 { "copy" } else { "copies" };
        format!(
            "{} {} x {} {copies} of {} = {}",
            term.number,
            term.affinity,
            term.copies,
            term.target,
            term.value()
        )
    });
    terms.collect::<Vec<_>>().join("; ")
}

/// Rows under headings, each column as wide as its widest cell, two spaces apart, indented by two.
/// Columns marked in `right` are aligned to the right. Empty columns are left out.
pub fn table<const N: usize>(headings: &[&str; N], right: &[bool; N], rows: &[[String; N]]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells
            .max()
            .filter(|&widest| widest > 0)
            .map(|widest| widest.max(headings[column].len()))
    };
    let widths: Vec<Option<usize>> = (0..N).map(width).collect();
    let mut out = String::new();
    let mut line = |cells: [&str; N]| {
        let start = out.len();
        for ((cell, width), right) in cells.into_iter().zip(&widths).zip(right) {
            // Writing to a String cannot fail.
            let _ = match (width, right) {
                (None, _) => Ok(()),
                (Some(width), true) => write!(out, "  {cell:>width$}"),
                (Some(width), false) => write!(out, "  {cell:<width$}"),
            };
        }
        out.truncate(start + out[start..].trim_end().len());
        out.push('\n');
    };
    line(*headings);
    for row in rows {
        line(std::array::from_fn(|column| row[column].as_str()));
    }
    out
}
