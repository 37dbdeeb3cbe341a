//! What processes write, on our own two streams: as it is, or line by line with the process's name before it.
//!
//! Lines of several processes never mix: a line is printed once it is whole.

use super::{
    output,
    style::{Colour, Style},
    units,
};
use crate::failure::Result;
use std::{
    collections::HashMap,
    io::{self, Write},
};
use unicode_width::UnicodeWidthStr;

/// A line that grows beyond this is printed in pieces.
const LINE_MAX: usize = 16 << 10;

/// Which of the two streams; 2 is standard error, as everywhere.
const ERROR: u8 = 2;

/// The console of one command.
pub struct Console {
    prefixed: bool,
    out: Style,
    err: Style,
    /// Names in the order in which they were seen, which gives each its colour.
    names: Vec<String>,
    /// What has no line end yet, for each process (by its place in `names`) and stream.
    pending: HashMap<(usize, u8), Vec<u8>>,
}

impl Console {
    /// With a name before each line, or verbatim.
    pub fn new(prefixed: bool, out: Style, err: Style) -> Console {
        Console {
            prefixed,
            out,
            err,
            names: Vec::new(),
            pending: HashMap::new(),
        }
    }

    /// Makes a name known, so that prefixes are as wide as the longest from the first line on.
    pub fn know(&mut self, name: &str) -> usize {
        match self.names.iter().position(|known| known == name) {
            Some(place) => place,
            None => {
                self.names.push(name.to_owned());
                self.names.len() - 1
            }
        }
    }

    /// Prints what a process wrote, and how much of it was lost before.
    pub fn write(&mut self, name: &str, stream: u8, data: &[u8], lost: u64) -> Result {
        let place = self.know(name);
        if lost > 0 {
            let lost = units::bytes(lost);
            self.notice(&format!("{lost} of what {name} wrote came too fast to be kept"));
        }
        if !self.prefixed {
            return put(stream, data);
        }
        let mut pending = self.pending.remove(&(place, stream)).unwrap_or_default();
        pending.extend_from_slice(data);
        let whole = match pending.iter().rposition(|byte| *byte == b'\n') {
            Some(end) => end + 1,
            None if pending.len() > LINE_MAX => pending.len(),
            None => 0,
        };
        let rest = pending.split_off(whole);
        if !rest.is_empty() {
            self.pending.insert((place, stream), rest);
        }
        self.lines(place, stream, &pending)
    }

    /// Prints what a process left without a line end.
    pub fn end(&mut self, name: &str) -> Result {
        let place = self.know(name);
        for stream in [1, ERROR] {
            if let Some(rest) = self.pending.remove(&(place, stream)) {
                self.lines(place, stream, &rest)?;
            }
        }
        Ok(())
    }

    /// Prints what is left of all.
    pub fn end_all(&mut self) -> Result {
        for name in self.names.clone() {
            self.end(&name)?;
        }
        Ok(())
    }

    /// Says something of our own, on standard error.
    pub fn notice(&self, text: &str) {
        let line = format!("{} {text}\n", self.err.paint(Colour::Dim, "satrap:"));
        // Nobody hears that it cannot be said.
        let _ = io::stderr().write_all(line.as_bytes());
    }

    fn lines(&self, place: usize, stream: u8, data: &[u8]) -> Result {
        if data.is_empty() {
            return Ok(());
        }
        let prefix = self.prefix(place, stream);
        let mut text = Vec::with_capacity(data.len() + prefix.len());
        for line in data.split_inclusive(|byte| *byte == b'\n') {
            text.extend_from_slice(prefix.as_bytes());
            text.extend_from_slice(line.strip_suffix(b"\n").unwrap_or(line));
            text.push(b'\n');
        }
        put(stream, &text)
    }

    fn prefix(&self, place: usize, stream: u8) -> String {
        let width = self.names.iter().map(|name| name.width()).max().unwrap_or(0);
        let name = &self.names[place];
        let blank = " ".repeat(width - name.width());
        let style = if stream == ERROR { self.err } else { self.out };
        let name = style.paint(Colour::Series(place), &format!("{name}{blank} │"));
        name + " "
    }
}

fn put(stream: u8, data: &[u8]) -> Result {
    match stream {
        ERROR => {
            // The program's standard output goes on when nobody reads its standard error.
            let _ = io::stderr().write_all(data);
            Ok(())
        }
        _ => output::bytes(data),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_as_wide_as_the_longest_name() {
        let mut console = Console::new(true, Style::plain(), Style::coloured());
        let (front, store) = (console.know("front"), console.know("s"));
        assert_eq!(console.prefix(front, 1), "front │ ");
        assert_eq!(console.prefix(store, 1), "s     │ ");
        assert_eq!(console.prefix(store, 2), "\x1b[35ms     │\x1b[0m ");
    }

    #[test]
    fn half_a_line_waits_for_its_other_half() {
        let mut console = Console::new(true, Style::plain(), Style::plain());
        console.write("a", 2, b"ab", 0).expect("nothing is printed yet");
        assert_eq!(console.pending[&(0, 2)], b"ab");
        console
            .write("a", 2, b"c\nd", 0)
            .expect("standard error takes it");
        assert_eq!(console.pending[&(0, 2)], b"d");
        console.end("a").expect("standard error takes it");
        assert!(console.pending.is_empty());
    }
}
