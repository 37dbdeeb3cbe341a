//! Errors and warnings that point at a place in a contract.
//!
//! Printed, a diagnostic shows the line with a caret below it, as rustc does. Neighbour: `source.rs`, which
//! turns byte ranges into lines and columns.

use std::fmt;

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Severity {
    /// The contract cannot be used.
    Error,
    /// It can, but it is probably not what was meant.
    Warning,
}

/// One thing that is wrong, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
    /// What to do about it, if that is known.
    pub help: Option<String>,
    /// Name of the file, as it was given.
    pub source: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The whole line.
    pub text: String,
    /// Characters to underline, at least 1.
    pub width: usize,
}

impl Diagnostic {
    /// The place and the message on one line, for those who show no source.
    pub fn summary(&self) -> String {
        format!("{}:{}:{}: {}", self.source, self.line, self.column, self.message)
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let number = self.line.to_string();
        let margin = " ".repeat(number.len());
        // Tabs are kept, so that the caret stands under its character however wide a tab is.
        let indent: String = self
            .text
            .chars()
            .take(self.column - 1)
            .map(|c| if c == '\t' { '\t' } else { ' ' })
            .collect();
        writeln!(f, "{kind}: {}", self.message)?;
        writeln!(f, "{margin}--> {}:{}:{}", self.source, self.line, self.column)?;
        writeln!(f, "{margin} |")?;
        writeln!(f, "{number} | {}", self.text)?;
        writeln!(f, "{margin} | {indent}{}", "^".repeat(self.width))?;
        match &self.help {
            Some(help) => writeln!(f, "{margin} = help: {help}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Diagnostic {}
