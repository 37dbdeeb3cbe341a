//! The text of a contract, and the diagnostics collected while it is read.
//!
//! Reading goes on after an error, so that one run shows all of them; each has a span, and where it helps a
//! suggestion. `diagnostic.rs` renders them.

use crate::diagnostic::{Diagnostic, Severity};
use std::ops::Range;

/// Bytes of the text.
pub(crate) type Span = Range<usize>;

/// A file that is being read.
#[derive(Debug)]
pub(crate) struct Source<'a> {
    name: &'a str,
    text: &'a str,
    found: Vec<(Span, Diagnostic)>,
}

impl<'a> Source<'a> {
    pub(crate) fn new(name: &'a str, text: &'a str) -> Source<'a> {
        Source {
            name,
            text,
            found: Vec::new(),
        }
    }

    pub(crate) fn text(&self) -> &'a str {
        self.text
    }

    pub(crate) fn error(&mut self, span: &Span, message: impl Into<String>) {
        self.report(Severity::Error, span, message.into(), None);
    }

    pub(crate) fn error_with_help(
        &mut self,
        span: &Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.report(Severity::Error, span, message.into(), Some(help.into()));
    }

    pub(crate) fn warning(&mut self, span: &Span, message: impl Into<String>, help: impl Into<String>) {
        self.report(Severity::Warning, span, message.into(), Some(help.into()));
    }

    fn report(&mut self, severity: Severity, span: &Span, message: String, help: Option<String>) {
        let diagnostic = self.locate(severity, span, message, help);
        if !self.found.iter().any(|(_, earlier)| *earlier == diagnostic) {
            self.found.push((span.clone(), diagnostic));
        }
    }

    fn locate(&self, severity: Severity, span: &Span, message: String, help: Option<String>) -> Diagnostic {
        let start = floor_boundary(self.text, span.start);
        let before = &self.text[..start];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = self.text[line_start..].lines().next().unwrap_or_default();
        let end =
            floor_boundary(self.text, span.end).clamp(start, line_start + line.len().max(start - line_start));
        Diagnostic {
            severity,
            message,
            help,
            source: self.name.to_owned(),
            line: before.matches('\n').count() + 1,
            column: self.text[line_start..start].chars().count() + 1,
            text: line.to_owned(),
            width: self.text[start..end].chars().count().max(1),
        }
    }

    /// What was found, in the order of the file: `Err` if an error is among it.
    pub(crate) fn finish(self) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
        let mut found = self.found;
        found.sort_by_key(|(span, _)| span.start);
        let all: Vec<_> = found.into_iter().map(|(_, diagnostic)| diagnostic).collect();
        let failed = all
            .iter()
            .any(|diagnostic| diagnostic.severity == Severity::Error);
        if failed { Err(all) } else { Ok(all) }
    }
}

/// The nearest character boundary at or below an offset.
fn floor_boundary(text: &str, offset: usize) -> usize {
    let offset = offset.min(text.len());
    (0..=offset)
        .rev()
        .find(|&at| text.is_char_boundary(at))
        .unwrap_or(0)
}

/// The candidate most like a misspelt word, if any is like it at all.
pub(crate) fn nearest<'n>(word: &str, candidates: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    candidates
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|&(distance, _)| distance <= word.len().div_ceil(3))
        .min()
        .map(|(_, candidate)| candidate)
}

/// Edits (insert, delete, replace one byte) between two words.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.bytes().enumerate() {
            let replaced = diagonal + usize::from(from != to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
