//! Reading the `@protocol` block of an interface's documentation comment.
//!
//! Tokens carry their span, so that every complaint points at a line and a column of the file. What is read
//! here is a tree of words; `check.rs` and `state.rs` find out what the words mean.
//!
//! ```text
//! protocol = state+              state = NAME "=" step ("|" step)*
//! step     = ("?" | "!") NAME "->" NAME
//! ```
//!
//! Line breaks mean nothing, so a state may go on over several lines. The block ends at an empty line, at
//! another line that starts with `@`, or with the comment. Neighbour: `state.rs` checks what is read here.

use crate::source::{Source, Span};
use satrap_table::Side;

/// A word and where it stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Word {
    pub(crate) text: String,
    pub(crate) span: Span,
}

/// One state as written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct StateAst {
    pub(crate) name: Word,
    pub(crate) steps: Vec<StepAst>,
}

/// One message of a state as written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct StepAst {
    pub(crate) sender: Side,
    pub(crate) message: Word,
    pub(crate) target: Word,
    /// From the mark to the end of the message's name.
    pub(crate) span: Span,
}

/// The comment lines above an interface, each with the place of its contents.
fn comment_lines(text: &str, interface: usize) -> Vec<Span> {
    let line_of = |at: usize| {
        let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let end = text[at..].find('\n').map_or(text.len(), |newline| at + newline);
        start..end
    };
    let mut lines = Vec::new();
    let mut current = line_of(interface);
    while current.start > 0 {
        current = line_of(current.start - 1);
        let line = text[current.clone()].trim();
        if let Some(contents) = line.strip_prefix("///") {
            let start = current.start + text[current.clone()].find("///").unwrap_or(0) + 3;
            lines.push(start..start + contents.len());
        } else if !line.is_empty() && !line.starts_with("//") && !line.starts_with('@') {
            break;
        }
    }
    lines.reverse();
    lines
}

/// The lines of the protocol block above an interface's name, and the place of the word `@protocol`.
fn block(text: &str, interface: usize) -> Option<(Span, Vec<Span>)> {
    let lines = comment_lines(text, interface);
    let trimmed = |span: &Span| text[span.clone()].trim();
    let first = lines
        .iter()
        .position(|span| trimmed(span).split_whitespace().next() == Some("@protocol"))?;
    let at = lines[first].start + text[lines[first].clone()].find('@')?;
    let mark = at..at + "@protocol".len();
    let rest_of_line = mark.end..lines[first].end;
    let ends = |span: &&Span| !trimmed(span).is_empty() && !trimmed(span).starts_with('@');
    let body = lines[first + 1..].iter().take_while(ends).cloned();
    Some((mark, std::iter::once(rest_of_line).chain(body).collect()))
}

/// A protocol as written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Protocol {
    /// Where the word `@protocol` stands.
    pub(crate) mark: Span,
    pub(crate) states: Vec<StateAst>,
    /// Whether all of it could be read.
    pub(crate) complete: bool,
}

/// Reads the protocol above the interface whose name stands at `interface`. `None` if there is none.
pub(crate) fn read(source: &mut Source<'_>, interface: usize) -> Option<Protocol> {
    let text = source.text();
    let (mark, lines) = block(text, interface)?;
    let tokens = lines.into_iter().flat_map(|line| tokenize(text, line)).collect();
    let mut parser = Parser {
        source,
        tokens,
        next: 0,
        mark: mark.clone(),
        complete: true,
    };
    let states = parser.states();
    let complete = parser.complete;
    Some(Protocol {
        mark,
        states,
        complete,
    })
}

/// What a line is made of; anything else is one character that no rule accepts.
fn tokenize(text: &str, line: Span) -> Vec<Span> {
    let mut tokens = Vec::new();
    let mut at = line.start;
    while at < line.end {
        let rest = &text[at..line.end];
        let word = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
        let len = match rest.chars().next() {
            Some(c) if c.is_whitespace() => {
                at += c.len_utf8();
                continue;
            }
            _ if rest.starts_with("->") => 2,
            _ if word > 0 => name_length(rest),
            Some(c) => c.len_utf8(),
            None => break,
        };
        tokens.push(at..at + len);
        at += len;
    }
    tokens
}

/// Length of a kebab-case name, which never ends in a dash: `a->b` is a name, an arrow and a name.
fn name_length(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let is_part = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_alphanumeric);
    let belongs = |at: usize| is_part(at) || (bytes[at] == b'-' && is_part(at + 1));
    (0..bytes.len()).find(|&at| !belongs(at)).unwrap_or(bytes.len())
}

struct Parser<'s, 'a> {
    source: &'s mut Source<'a>,
    tokens: Vec<Span>,
    next: usize,
    mark: Span,
    complete: bool,
}

impl Parser<'_, '_> {
    fn peek(&self, ahead: usize) -> &str {
        self.tokens
            .get(self.next + ahead)
            .map_or("", |span| &self.source.text()[span.clone()])
    }

    /// Where the next token stands, or the end of the last one.
    fn here(&self) -> Span {
        let after = || self.tokens.last().unwrap_or(&self.mark).end;
        self.tokens
            .get(self.next)
            .cloned()
            .unwrap_or_else(|| after()..after())
    }

    fn states(&mut self) -> Vec<StateAst> {
        let mut states = Vec::new();
        if self.tokens.is_empty() {
            self.source.error_with_help(
                &self.mark.clone(),
                "the protocol is empty",
                "write one line for each state: `start = ?message -> end`",
            );
            self.complete = false;
        }
        while self.next < self.tokens.len() {
            match self.state() {
                Some(state) => states.push(state),
                None => self.skip_to_next_state(),
            }
        }
        states
    }

    /// After an error, goes on at the next `NAME =`.
    fn skip_to_next_state(&mut self) {
        self.complete = false;
        self.next += 1;
        while self.next < self.tokens.len() && self.peek(1) != "=" {
            self.next += 1;
        }
    }

    fn state(&mut self) -> Option<StateAst> {
        let name = self.word("the name of a state")?;
        self.demand("=", "after the name of a state")?;
        let mut steps = vec![];
        if !matches!(self.peek(0), "?" | "!") && (self.peek(0).is_empty() || self.peek(1) == "=") {
            let message = format!(
                "nobody can proceed in state `{}`: it allows no message",
                name.text
            );
            self.source
                .error_with_help(&name.span, message, "end the conversation with `-> end`");
            return Some(StateAst { name, steps });
        }
        loop {
            steps.push(self.step()?);
            if self.peek(0) != "|" {
                break;
            }
            self.next += 1;
        }
        if self.next < self.tokens.len() && self.peek(1) != "=" {
            let message = format!("expected `|` or the next state, found `{}`", self.peek(0));
            self.source.error(&self.here(), message);
            return None;
        }
        Some(StateAst { name, steps })
    }

    fn step(&mut self) -> Option<StepAst> {
        let mark = self.here();
        let sender = match self.peek(0) {
            "?" => Side::Client,
            "!" => Side::Service,
            _ => return self.fail("`?` (the service receives) or `!` (the service sends)"),
        };
        self.next += 1;
        let message = self.word("the name of a message")?;
        self.demand("->", "between a message and the state that follows")?;
        let target = self.word("the name of a state")?;
        let span = mark.start..message.span.end;
        Some(StepAst {
            sender,
            message,
            target,
            span,
        })
    }

    fn word(&mut self, what: &str) -> Option<Word> {
        if !self.peek(0).starts_with(|c: char| c.is_ascii_alphabetic()) {
            return self.fail(what);
        }
        let word = Word {
            text: self.peek(0).to_owned(),
            span: self.here(),
        };
        self.next += 1;
        Some(word)
    }

    fn demand(&mut self, token: &str, place: &str) -> Option<()> {
        if self.peek(0) != token {
            return self.fail(&format!("`{token}` {place}"));
        }
        self.next += 1;
        Some(())
    }

    fn fail<T>(&mut self, expected: &str) -> Option<T> {
        let found = match self.peek(0) {
            "" => "the end of the protocol".to_owned(),
            token => format!("`{token}`"),
        };
        self.source
            .error(&self.here(), format!("expected {expected}, found {found}"));
        None
    }
}
