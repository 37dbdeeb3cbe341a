//! Progress of installations: one bar for each program that is being compiled, on standard error.
//!
//! Only a terminal sees bars, and only while something is compiled: what is in the cache passes in silence.

use super::{
    style::{Colour, Style},
    units,
};
use satrap_coordinator::api::{Event, Stage};
use std::{
    io::{self, IsTerminal, Write},
    path::Path,
    time::Instant,
};
use unicode_width::UnicodeWidthStr;

/// Characters of a bar.
const BAR: usize = 24;
/// Characters of a name.
const NAME: usize = 28;
/// Most bars at a time; what lies below is not drawn.
const BARS_MAX: usize = 16;

/// The bars of one command.
pub struct Progress {
    style: Style,
    terminal: bool,
    bars: Vec<Bar>,
    /// Lines that stand on the terminal now.
    drawn: usize,
}

struct Bar {
    program: String,
    target: String,
    stage: Stage,
    percent: u8,
    since: Instant,
}

impl Progress {
    /// No bars yet.
    pub fn new(style: Style) -> Progress {
        Progress {
            style,
            terminal: io::stderr().is_terminal(),
            bars: Vec::new(),
            drawn: 0,
        }
    }

    /// Takes note of an event; those that are not about installations change nothing.
    pub fn event(&mut self, event: &Event) {
        match event {
            Event::InstallProgress {
                program,
                target,
                stage,
                percent,
            } => self.advance(program, target, *stage, *percent),
            Event::InstallFinished { program, target, .. } => {
                self.bars.retain(|bar| !bar.is(program, target));
            }
            _ => return,
        }
        self.draw();
    }

    fn advance(&mut self, program: &str, target: &str, stage: Stage, percent: u8) {
        match self.bars.iter_mut().find(|bar| bar.is(program, target)) {
            Some(bar) => (bar.stage, bar.percent) = (stage, percent),
            None => self.bars.push(Bar {
                program: program.to_owned(),
                target: target.to_owned(),
                stage,
                percent,
                since: Instant::now(),
            }),
        }
    }

    /// Draws again, as time goes by.
    pub fn tick(&mut self) {
        if !self.bars.is_empty() {
            self.draw();
        }
    }

    /// Takes everything off the terminal.
    pub fn clear(&mut self) {
        self.bars.clear();
        self.draw();
    }

    fn draw(&mut self) {
        if !self.terminal || (self.bars.is_empty() && self.drawn == 0) {
            return;
        }
        let mut text = erase(self.drawn);
        let shown = &self.bars[..self.bars.len().min(BARS_MAX)];
        for bar in shown {
            text += &bar.line(self.style);
        }
        self.drawn = shown.len();
        // Progress that cannot be shown is no reason to stop the work.
        let _ = io::stderr().write_all(text.as_bytes());
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Goes up that many lines, and clears from there.
fn erase(lines: usize) -> String {
    match lines {
        0 => String::new(),
        lines => format!("\x1b[{lines}F\x1b[J"),
    }
}

impl Bar {
    fn is(&self, program: &str, target: &str) -> bool {
        self.program == program && self.target == target
    }

    fn line(&self, style: Style) -> String {
        let filled = BAR * usize::from(self.percent.min(100)) / 100;
        let bar = style.paint(Colour::Good, &"━".repeat(filled));
        let rest = style.paint(Colour::Dim, &"─".repeat(BAR - filled));
        let stage = match self.stage {
            Stage::Validate => "check",
            Stage::Rewrite => "rewrite",
            Stage::Compile => "compile",
            Stage::Done => "store",
        };
        let (name, percent) = (shorten(file_name(&self.program), NAME), self.percent);
        let time = units::duration(self.since.elapsed());
        format!("{name} {bar}{rest} {percent:>3} %  {stage:<8} {time}\n")
    }
}

/// The last part of a path, by which people know a program.
pub fn file_name(path: &str) -> &str {
    Path::new(path)
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or(path)
}

/// Exactly that many columns: filled up, or cut with an ellipsis.
fn shorten(text: &str, columns: usize) -> String {
    let mut short = text.to_owned();
    while short.width() > columns {
        short.pop();
        short.pop();
        short.push('…');
    }
    let blank = columns - short.width();
    short + &" ".repeat(blank)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_shows_name_share_and_stage() {
        let bar = Bar {
            program: "/a/decoder.wasm".into(),
            target: "t".into(),
            stage: Stage::Compile,
            percent: 50,
            since: Instant::now(),
        };
        let line = bar.line(Style::plain());
        assert!(
            line.starts_with("decoder.wasm                 ━━━━━━━━━━━━────────────  50 %  compile "),
            "{line}"
        );
    }

    #[test]
    fn a_long_name_is_cut() {
        assert_eq!(shorten("abcdef", 4), "abc…");
        assert_eq!(shorten("ab", 4), "ab  ");
    }
}
