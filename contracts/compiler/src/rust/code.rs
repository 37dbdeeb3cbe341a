//! Lines of code, indented by their braces.
//!
//! Generated code is read by people who debug it, so it keeps the documentation of the contract. The other
//! files of this folder write through it.

/// A text that grows line by line.
#[derive(Default, Debug)]
pub(super) struct Code {
    text: String,
    depth: usize,
}

impl Code {
    /// Adds lines. A line that closes a brace is indented less, one that opens a brace indents what follows.
    pub(super) fn add(&mut self, lines: impl AsRef<str>) {
        for line in lines.as_ref().lines() {
            let line = line.trim();
            if line.starts_with(['}', ')']) {
                self.depth = self.depth.saturating_sub(1);
                self.text.truncate(self.text.trim_end().len());
                self.text.push('\n');
            }
            if !line.is_empty() {
                (0..self.depth).for_each(|_| self.text.push_str("    "));
            }
            self.text.push_str(line);
            self.text.push('\n');
            if line.ends_with(['{', '(']) && !line.starts_with("//") {
                self.depth += 1;
            }
        }
    }

    /// Adds documentation; an empty text adds nothing.
    pub(super) fn docs(&mut self, text: &str) {
        for line in text.lines() {
            // Not through `add`: a brace in a sentence indents nothing.
            (0..self.depth).for_each(|_| self.text.push_str("    "));
            self.text.push_str(format!("/// {}", line.trim_end()).trim_end());
            self.text.push('\n');
        }
    }

    pub(super) fn finish(self) -> String {
        self.text
    }
}
