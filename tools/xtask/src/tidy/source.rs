//! A Rust file as the rules see it: its code without comments and literals, its functions, its test parts.
//!
//! Test parts are items under `#[cfg(test)]`, files in a `tests` or `benches` folder, and files of modules
//! that are declared under `#[cfg(test)]`.

use super::lexer::{Lexed, lex};
use std::ops::Range;

/// A Rust file.
pub struct Source {
    /// Its path, relative to the root.
    pub path: String,
    /// Its text.
    pub text: String,
    /// Its code, byte for byte in the place it has in `text`.
    pub code: String,
    /// Its comments, by line.
    pub comments: Vec<(usize, String)>,
    /// Where each line starts.
    starts: Vec<usize>,
    tests: Vec<Range<usize>>,
}

/// A function with a body.
pub struct Function {
    /// Its name.
    pub name: String,
    /// Where it starts and where its body ends, in bytes.
    pub extent: Range<usize>,
    /// The bytes of its body, braces included.
    pub body: Range<usize>,
}

impl Source {
    /// Takes the file apart.
    pub fn new(path: &str, text: String) -> Source {
        let Lexed { code, comments } = lex(&text);
        let starts = std::iter::once(0)
            .chain(text.match_indices('\n').map(|(at, _)| at + 1))
            .collect();
        let mut source = Source {
            path: path.to_string(),
            text,
            code,
            comments,
            starts,
            tests: Vec::new(),
        };
        let name = path.rsplit('/').next().unwrap_or(path);
        let by_place = path.split('/').any(|part| part == "tests" || part == "benches");
        if by_place || name == "tests.rs" || name.ends_with("_tests.rs") {
            source.mark_test();
        } else {
            source.tests = source.test_items();
        }
        source
    }

    /// The whole file is a test.
    pub fn mark_test(&mut self) {
        self.tests = Vec::from([Range {
            start: 0,
            end: self.text.len(),
        }]);
    }

    /// The line of a byte, from 1.
    pub fn line(&self, at: usize) -> usize {
        self.starts.partition_point(|&start| start <= at)
    }

    /// Whether a byte belongs to a test.
    pub fn is_test(&self, at: usize) -> bool {
        self.tests.iter().any(|range| range.contains(&at))
    }

    /// Lines that are not test.
    pub fn lines_apart_from_tests(&self) -> usize {
        let lines = self.text.lines().count();
        lines
            - self
                .starts
                .iter()
                .take(lines)
                .filter(|&&start| self.is_test(start))
                .count()
    }

    /// Comments of the lines `first..=last`.
    pub fn comments_between(&self, first: usize, last: usize) -> impl Iterator<Item = &str> {
        let within = move |line: usize| line >= first && line <= last;
        self.comments
            .iter()
            .filter(move |(line, _)| within(*line))
            .map(|(_, text)| text.as_str())
    }

    /// Every place where `word` stands in the code as a word of its own.
    pub fn words<'a>(&'a self, word: &'a str) -> impl Iterator<Item = usize> + 'a {
        let part_of_word = |byte: Option<&u8>| byte.is_some_and(|b| *b == b'_' || b.is_ascii_alphanumeric());
        let code = self.code.as_bytes();
        self.code
            .match_indices(word)
            .map(|(at, _)| at)
            .filter(move |&at| {
                let before = at.checked_sub(1).and_then(|at| code.get(at));
                !part_of_word(before) && !part_of_word(code.get(at + word.len()))
            })
    }

    /// Every function that has a body.
    pub fn functions(&self) -> Vec<Function> {
        self.words("fn").filter_map(|at| self.function(at)).collect()
    }

    fn function(&self, at: usize) -> Option<Function> {
        let rest = &self.code[at + 2..];
        let name: String = rest
            .trim_start()
            .chars()
            .take_while(|c| *c == '_' || *c == '$' || c.is_alphanumeric())
            .collect();
        if name.is_empty() {
            return None;
        }
        let mut depth = 0;
        for (offset, byte) in rest.bytes().enumerate() {
            match byte {
                b'(' | b'[' => depth += 1,
                b')' | b']' => depth -= 1,
                b';' if depth == 0 => return None,
                b'{' if depth == 0 => {
                    let open = at + 2 + offset;
                    let close = self.matching(open);
                    return Some(Function {
                        name,
                        extent: at..close,
                        body: open..close,
                    });
                }
                _ => {}
            }
        }
        None
    }

    /// Past the brace that closes the one at `open`, or the end of the file.
    pub fn matching(&self, open: usize) -> usize {
        let mut depth = 0;
        for (offset, byte) in self.code[open..].bytes().enumerate() {
            match byte {
                b'{' => depth += 1,
                b'}' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return open + offset + 1;
            }
        }
        self.code.len()
    }

    fn test_items(&self) -> Vec<Range<usize>> {
        let mut items = Vec::new();
        for attribute in ["#[cfg(test)]", "#[cfg(all(test,", "#[cfg(any(test,", "#[test]"] {
            for (at, _) in self.code.match_indices(attribute) {
                let end = self.code[at..].find(['{', ';']).map(|offset| at + offset);
                items.extend(end.map(|end| match self.code.as_bytes()[end] {
                    b'{' => at..self.matching(end),
                    _ => at..end + 1,
                }));
            }
        }
        items
    }
}

#[cfg(test)]
mod tests {
    use super::Source;

    const TEXT: &str = "fn a() -> [u8; 2] {\n    b({ 1 })\n}\ntrait T { fn c(&self); }\ntype F = fn(u8);\n\
                        #[cfg(test)]\nmod tests {\n    fn d() {}\n}\n";

    #[test]
    fn functions_are_found_with_their_extent() {
        let source = Source::new("src/x.rs", TEXT.to_string());
        let found: Vec<(String, usize, usize)> = source
            .functions()
            .into_iter()
            .map(|f| (f.name, source.line(f.extent.start), source.line(f.extent.end - 1)))
            .collect();
        assert_eq!(found, [("a".to_string(), 1, 3), ("d".to_string(), 8, 8)]);
    }

    #[test]
    fn test_parts_are_told_apart() {
        let source = Source::new("src/x.rs", TEXT.to_string());
        assert_eq!(source.lines_apart_from_tests(), 5);
        assert_eq!(
            Source::new("a/tests/x.rs", TEXT.to_string()).lines_apart_from_tests(),
            0
        );
    }
}
