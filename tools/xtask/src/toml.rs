//! Reads the part of TOML that `Cargo.toml` and `tidy.toml` use: sections, keys, and values as written.
//!
//! Values stay text; an array or table that spans lines is joined into one. Neighbour: `crates.rs`.

/// One `key = value`, in the section it stands in.
#[derive(Debug, PartialEq)]
pub struct Entry {
    /// The section's name: `dependencies`, `target.'cfg(loom)'.dependencies`, `[bin]` for `[[bin]]`.
    pub section: String,
    /// The key, without its quotes.
    pub key: String,
    /// The value, as written.
    pub value: String,
    /// The line it starts on, from 1.
    pub line: usize,
}

impl Entry {
    /// The value without the quotes of a string.
    pub fn text(&self) -> &str {
        unquote(&self.value)
    }

    /// The strings of an array.
    pub fn strings(&self) -> Vec<&str> {
        self.value.split('"').skip(1).step_by(2).collect()
    }

    /// The string that an inline table has for `key`.
    pub fn field(&self, key: &str) -> Option<&str> {
        let rest = self.value.split_once(&format!("{key} ="))?.1;
        rest.split('"').nth(1)
    }
}

/// All entries of a file, in order.
pub fn parse(text: &str) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut section = String::new();
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let line = without_comment(line).trim();
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name.trim().to_string();
        } else if let Some((key, value)) = split_at_equals(line) {
            let mut value = value.trim().to_string();
            while depth(&value) > 0 {
                let Some((_, more)) = lines.next() else { break };
                value.push(' ');
                value += without_comment(more).trim();
            }
            entries.push(Entry {
                section: section.clone(),
                key: unquote(key.trim()).to_string(),
                value,
                line: number + 1,
            });
        }
    }
    entries
}

fn unquote(text: &str) -> &str {
    text.strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .unwrap_or(text)
}

/// The first `sought` outside a string.
fn outside_strings(line: &str, sought: char) -> Option<usize> {
    let mut within = false;
    for (at, c) in line.char_indices() {
        if c == '"' {
            within = !within;
        } else if c == sought && !within {
            return Some(at);
        }
    }
    None
}

fn without_comment(line: &str) -> &str {
    outside_strings(line, '#').map_or(line, |at| &line[..at])
}

fn split_at_equals(line: &str) -> Option<(&str, &str)> {
    outside_strings(line, '=').map(|at| (&line[..at], &line[at + 1..]))
}

/// Brackets still open.
fn depth(value: &str) -> i32 {
    let mut within = false;
    let mut depth = 0;
    for c in value.chars() {
        match c {
            '"' => within = !within,
            '[' | '{' if !within => depth += 1,
            ']' | '}' if !within => depth -= 1,
            _ => {}
        }
    }
    depth
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_strings_arrays_and_comments_are_understood() {
        let text = "[package]\nname = \"a#b\" # why\n[[bin]]\npath = \"x.rs\"\n[workspace]\nmembers = [\n  \"a\", # one\n  \"b\",\n]\n\"q.k\" = 2\n";
        let entries = parse(text);
        assert_eq!(
            (entries[0].section.as_str(), entries[0].text()),
            ("package", "a#b")
        );
        assert_eq!(entries[1].section, "[bin]");
        assert_eq!(entries[2].strings(), ["a", "b"]);
        assert_eq!(
            (
                entries[3].key.as_str(),
                entries[3].value.as_str(),
                entries[3].line
            ),
            ("q.k", "2", 10)
        );
    }

    #[test]
    fn a_field_of_an_inline_table_is_found() {
        let entries = parse("[dependencies]\nx = { package = \"satrap-abi\", path = \"../abi\" }\n");
        assert_eq!(entries[0].field("package"), Some("satrap-abi"));
        assert_eq!(entries[0].field("path"), Some("../abi"));
    }
}
