//! What happened, in order: the last lines for people, a digest of all lines to compare runs.
//!
//! The digest covers what the last lines no longer show, so two runs that differ anywhere differ here.
//! `run.rs` writes it.

use crate::rng::print_of;
use std::{collections::VecDeque, fmt};

/// Lines kept for a failure's report.
const TAIL: usize = 60;

/// The trace of a run.
#[derive(Default)]
pub struct Trace {
    tail: VecDeque<String>,
    digest: u64,
    lines: u64,
    /// Print each line as it comes.
    verbose: bool,
}

impl Trace {
    /// An empty trace; `verbose` prints each line to standard error.
    pub fn new(verbose: bool) -> Trace {
        Trace {
            verbose,
            ..Trace::default()
        }
    }

    /// Adds a line.
    pub fn note(&mut self, now: u64, line: fmt::Arguments<'_>) {
        let line = format!("{:>12.3} us  {line}", now as f64 / 1000.0);
        if self.verbose {
            eprintln!("{line}");
        }
        self.digest = self.digest.rotate_left(5) ^ print_of(line.as_bytes());
        self.lines += 1;
        if self.tail.len() == TAIL {
            self.tail.pop_front();
        }
        self.tail.push_back(line);
    }

    /// Digest of all lines.
    pub fn digest(&self) -> u64 {
        self.digest
    }

    /// How many lines there were.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// The last lines.
    pub fn tail(&self) -> Vec<String> {
        self.tail.iter().cloned().collect()
    }
}
