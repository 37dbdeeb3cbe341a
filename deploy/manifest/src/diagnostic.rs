//! Diagnostics: what is wrong, where exactly, and what to do about it.
//!
//! A diagnostic is self-contained (it carries its source line), so that it can be printed after the text is
//! gone and sent as JSON. How many and how long they can be is bounded, whatever the text.

use std::fmt;
use std::ops::Range;

use serde::Serialize;
use unicode_width::UnicodeWidthChar;

/// Diagnostics kept of one text; a broken file needs no more to be put right.
const KEPT_MAX: usize = 50;
/// Characters of a long source line that are shown.
const SHOWN_MAX: usize = 120;
/// Characters of a long source line that are shown before the place.
const SHOWN_BEFORE: usize = 40;

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The manifest cannot be used.
    #[default]
    Error,
    /// The manifest can be used, but probably does not say what was meant.
    Warning,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        })
    }
}

/// One thing wrong at one place. Its `Display` is several lines: message, place, source line, caret, help.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in one line.
    pub message: String,
    /// The file, as it was named to the parser.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Characters underlined, at least 1, all on this line.
    pub length: usize,
    /// The source line, or the part of it around the place if it is long.
    pub source: String,
    /// Characters left out of `source` at its start.
    pub skipped: usize,
    /// What stands at the place, beside the caret; may be empty.
    pub label: String,
    /// What to do.
    pub help: Option<String>,
}

impl Diagnostic {
    /// Says what stands at the place.
    pub(crate) fn label(&mut self, label: impl Into<String>) -> &mut Diagnostic {
        self.label = label.into();
        self
    }

    /// Says what to do.
    pub(crate) fn help(&mut self, help: impl Into<String>) -> &mut Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// Says what was probably meant, where something was.
    pub(crate) fn did_you_mean(&mut self, meant: Option<&str>) -> &mut Diagnostic {
        if let Some(meant) = meant {
            self.help(format!("did you mean `{meant}`?"));
        }
        self
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gutter = self.line.to_string().len();
        writeln!(f, "{}: {}", self.severity, self.message)?;
        writeln!(f, "{:gutter$}--> {}:{}:{}", "", self.file, self.line, self.column)?;
        writeln!(f, "{:gutter$} |", "")?;
        let ellipsis = if self.skipped > 0 { "..." } else { "" };
        let (shown, before, under) = underline(&self.source, self.column - 1 - self.skipped, self.length);
        writeln!(f, "{} | {}", self.line, format!("{ellipsis}{shown}").trim_end())?;
        let before = before + ellipsis.len();
        let carets = format!(
            "{:gutter$} | {:before$}{} {}",
            "",
            "",
            "^".repeat(under),
            self.label
        );
        writeln!(f, "{}", carets.trim_end())?;
        match &self.help {
            Some(help) => writeln!(f, "{:gutter$} = help: {help}", ""),
            None => Ok(()),
        }
    }
}

/// The line as shown (no tab, nothing that a terminal would obey), and in terminal columns where the
/// underlining starts and how long it is.
fn underline(line: &str, start: usize, length: usize) -> (String, usize, usize) {
    let mut shown = String::new();
    let (mut before, mut under) = (0, 0);
    for (index, character) in line.chars().enumerate() {
        let character = match character {
            '\t' => ' ',
            _ if character.is_control() => '\u{fffd}',
            _ => character,
        };
        let width = character.width().unwrap_or(0);
        match index {
            _ if index < start => before += width,
            _ if index < start + length => under += width,
            _ => {}
        }
        shown.push(character);
    }
    (shown, before, under.max(1))
}

/// What is wrong with a text: at least one error, with the warnings, in the order of the text.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(transparent)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .try_for_each(|diagnostic| writeln!(f, "{diagnostic}"))?;
        let errors = self
            .0
            .iter()
            .filter(|each| each.severity == Severity::Error)
            .count();
        let file = self.0.first().map_or("", |first| &first.file);
        write!(
            f,
            "{errors} error{} in {file}",
            if errors == 1 { "" } else { "s" }
        )
    }
}

impl std::error::Error for Diagnostics {}

/// Collects what is found in one text.
pub(crate) struct Report<'t> {
    file: &'t str,
    text: &'t str,
    line_starts: Vec<usize>,
    found: Vec<Diagnostic>,
    errors: usize,
    /// Takes what no longer fits, so that the caller need not care.
    spill: Option<Diagnostic>,
}

impl<'t> Report<'t> {
    pub(crate) fn new(file: &'t str, text: &'t str) -> Report<'t> {
        let line_starts = [0]
            .into_iter()
            .chain(text.match_indices('\n').map(|(at, _)| at + 1))
            .collect();
        Report {
            file,
            text,
            line_starts,
            found: Vec::new(),
            errors: 0,
            spill: None,
        }
    }

    pub(crate) fn error(&mut self, span: Range<usize>, message: impl Into<String>) -> &mut Diagnostic {
        self.errors += 1;
        self.add(Severity::Error, span, message.into())
    }

    pub(crate) fn warning(&mut self, span: Range<usize>, message: impl Into<String>) -> &mut Diagnostic {
        self.add(Severity::Warning, span, message.into())
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// Line of a byte of the text, from 1.
    pub(crate) fn line(&self, at: usize) -> usize {
        self.line_starts.partition_point(|&start| start <= at)
    }

    /// Everything found, in the order of the text.
    pub(crate) fn finish(mut self) -> Vec<Diagnostic> {
        self.found
            .sort_by_key(|diagnostic| (diagnostic.line, diagnostic.column));
        self.found
    }

    fn add(&mut self, severity: Severity, span: Range<usize>, message: String) -> &mut Diagnostic {
        // A warning must not take the place of the error that makes it moot.
        if self.found.len() < KEPT_MAX || (severity == Severity::Error && self.errors == 1) {
            let index = self.found.len();
            self.found.push(self.locate(severity, span, message));
            return &mut self.found[index];
        }
        // Nobody will see it, so the work of locating it is spared.
        self.spill.insert(Diagnostic {
            severity,
            message,
            ..Diagnostic::default()
        })
    }

    fn locate(&self, severity: Severity, span: Range<usize>, message: String) -> Diagnostic {
        let start = floor(self.text, span.start);
        let line = self.line(start);
        let line_start = self.line_starts[line - 1];
        let line_end = self.text[line_start..]
            .find('\n')
            .map_or(self.text.len(), |at| line_start + at);
        let end = floor(self.text, span.end).clamp(start, line_end.max(start));
        // A byte order mark is no column of its own.
        let text = &self.text[line_start..line_end];
        let mark = usize::from(text.starts_with('\u{feff}'));
        let before = self.text[line_start..start].chars().count().saturating_sub(mark);
        let long = text.chars().count() > SHOWN_MAX;
        let skipped = if long {
            before.saturating_sub(SHOWN_BEFORE)
        } else {
            0
        };
        Diagnostic {
            severity,
            message,
            file: self.file.to_string(),
            line,
            column: before + 1,
            length: self.text[start..end]
                .chars()
                .count()
                .clamp(1, SHOWN_MAX - SHOWN_BEFORE),
            source: text
                .chars()
                .skip(mark + skipped)
                .take(SHOWN_MAX)
                .filter(|&c| c != '\r')
                .collect(),
            skipped,
            label: String::new(),
            help: None,
        }
    }
}

/// The nearest character boundary at or before `at`, within the text.
fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
