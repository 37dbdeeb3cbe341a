//! Tells code from comments and literals, which is all the Rust grammar that the rules need.
//!
//! The result has the size and line breaks of the source: what is not code becomes spaces, so that a byte's
//! position means the same in both. Quotes of strings stay, their contents go.

/// A source, taken apart.
pub struct Lexed {
    /// The code, with comments and the contents of literals blanked.
    pub code: String,
    /// Every comment: its line, from 1, and its text; a block comment has an entry for each line.
    pub comments: Vec<(usize, String)>,
}

struct Lexer<'a> {
    text: &'a [u8],
    at: usize,
    code: Vec<u8>,
    comments: Vec<(usize, String)>,
    line: usize,
}

/// Takes `text` apart.
pub fn lex(text: &str) -> Lexed {
    let mut lexer = Lexer {
        text: text.as_bytes(),
        at: 0,
        code: Vec::with_capacity(text.len()),
        comments: Vec::new(),
        line: 1,
    };
    while lexer.at < lexer.text.len() {
        lexer.step();
    }
    // Only whole characters are blanked, byte for byte, so what is left is valid.
    Lexed {
        code: String::from_utf8_lossy(&lexer.code).into_owned(),
        comments: lexer.comments,
    }
}

impl Lexer<'_> {
    fn step(&mut self) {
        let rest = &self.text[self.at..];
        if rest.starts_with(b"//") {
            self.line_comment();
        } else if rest.starts_with(b"/*") {
            self.block_comment();
        } else if let Some((prefix, hashes)) = self.raw_string() {
            self.keep(prefix);
            self.raw_contents(hashes);
        } else if rest[0] == b'"' {
            self.string();
        } else if rest[0] == b'\'' {
            self.quote();
        } else {
            self.keep(1);
        }
    }

    fn keep(&mut self, count: usize) {
        for _ in 0..count {
            let Some(&byte) = self.text.get(self.at) else {
                return;
            };
            self.code.push(byte);
            self.line += usize::from(byte == b'\n');
            self.at += 1;
        }
    }

    fn blank(&mut self, count: usize) {
        for _ in 0..count {
            let Some(&byte) = self.text.get(self.at) else {
                return;
            };
            self.code.push(if byte == b'\n' { b'\n' } else { b' ' });
            self.line += usize::from(byte == b'\n');
            self.at += 1;
        }
    }

    fn line_comment(&mut self) {
        let rest = &self.text[self.at..];
        let length = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
        self.comments
            .push((self.line, String::from_utf8_lossy(&rest[..length]).into_owned()));
        self.blank(length);
    }

    fn block_comment(&mut self) {
        let start = self.at;
        let (mut end, mut depth) = (start, 0);
        while end < self.text.len() {
            let rest = &self.text[end..];
            if rest.starts_with(b"/*") {
                (depth, end) = (depth + 1, end + 2);
            } else if rest.starts_with(b"*/") {
                (depth, end) = (depth - 1, end + 2);
                if depth == 0 {
                    break;
                }
            } else {
                end += 1;
            }
        }
        let text = String::from_utf8_lossy(&self.text[start..end]).into_owned();
        self.comments.extend(
            text.lines()
                .enumerate()
                .map(|(n, line)| (self.line + n, line.to_string())),
        );
        self.blank(end - start);
    }

    /// At `r"`, `r#"`, `br"` and so on: the length up to and with the quote, and the number of hashes.
    fn raw_string(&self) -> Option<(usize, usize)> {
        let before = self.at.checked_sub(1).map(|at| self.text[at]);
        if before.is_some_and(|byte| byte == b'_' || byte.is_ascii_alphanumeric()) {
            return None;
        }
        let rest = &self.text[self.at..];
        let letters = if rest.starts_with(b"br") || rest.starts_with(b"cr") {
            2
        } else {
            1
        };
        if rest.get(letters - 1) != Some(&b'r') {
            return None;
        }
        let hashes = rest[letters..].iter().take_while(|&&byte| byte == b'#').count();
        (rest.get(letters + hashes) == Some(&b'"')).then_some((letters + hashes + 1, hashes))
    }

    fn raw_contents(&mut self, hashes: usize) {
        let mut end = vec![b'"'];
        end.resize(hashes + 1, b'#');
        while self.at < self.text.len() && !self.text[self.at..].starts_with(&end) {
            self.blank(1);
        }
        self.keep(end.len());
    }

    fn string(&mut self) {
        self.keep(1);
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b'"' => return self.keep(1),
                b'\\' => self.blank(2),
                _ => self.blank(1),
            }
        }
    }

    /// A character literal, or the start of a lifetime.
    fn quote(&mut self) {
        let rest = &self.text[self.at + 1..];
        let width = rest.first().map_or(1, |&first| match first {
            0..=0x7f => 1,
            0x80..=0xdf => 2,
            0xe0..=0xef => 3,
            _ => 4,
        });
        self.keep(1);
        if rest.first() == Some(&b'\\') {
            self.blank(2);
            while self.at < self.text.len() && self.text[self.at] != b'\'' {
                self.blank(1);
            }
            self.keep(1);
        } else if rest.get(width) == Some(&b'\'') {
            self.blank(width);
            self.keep(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::lex;

    #[test]
    fn literals_and_comments_are_blanked_in_place() {
        let text =
            "let a = \"x // \\\" {\"; // fn\nlet b = r#\"\" } \"#; /* { /* } */ */ 'c: loop { '{' '\\'' }";
        let lexed = lex(text);
        assert_eq!(lexed.code.len(), text.len());
        let dense = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(
            dense(&lexed.code),
            "let a = \" \"; let b = r#\" \"#; 'c: loop { ' ' ' ' }"
        );
        assert_eq!(lexed.comments[0], (1, "// fn".to_string()));
        assert_eq!(lexed.comments[1].0, 2);
    }

    #[test]
    fn lifetimes_and_raw_identifiers_are_code() {
        assert_eq!(lex("fn f<'a>(r#type: &'a str)").code, "fn f<'a>(r#type: &'a str)");
    }

    #[test]
    fn characters_beyond_ascii_are_literals_too() {
        assert_eq!(lex("'é' {").code, "'  ' {");
    }
}
