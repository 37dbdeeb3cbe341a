//! Chunked transfer coding (RFC 9112 §7.1), the receiving half, as a state machine fed with what came.
//!
//! It keeps nothing but the line of a chunk's size; the body goes straight to the caller.

/// Longest line of a chunk's size, in bytes.
const SIZE_LINE_MAX: usize = 64;

/// Takes the coding off a body that comes in pieces.
#[derive(Debug, Default)]
pub(super) struct Chunked {
    state: State,
    line: Vec<u8>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    /// In the line that says a chunk's size.
    #[default]
    Size,
    /// In a chunk, with so many bytes to come.
    Data(usize),
    /// In the line end after a chunk.
    Gap,
    /// After the last chunk.
    End,
}

/// The body is not coded as it should be.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Malformed;

impl Chunked {
    /// Whether the last chunk was seen.
    pub fn is_over(&self) -> bool {
        self.state == State::End
    }

    /// Takes what came, and appends the body's bytes in it to `body`.
    pub fn feed(&mut self, mut bytes: &[u8], body: &mut Vec<u8>) -> Result<(), Malformed> {
        while let Some((&first, rest)) = bytes.split_first() {
            match self.state {
                State::Data(left) => {
                    let (taken, rest) = bytes.split_at(left.min(bytes.len()));
                    body.extend_from_slice(taken);
                    self.state = match left - taken.len() {
                        0 => State::Gap,
                        left => State::Data(left),
                    };
                    bytes = rest;
                    continue;
                }
                State::Gap if first == b'\n' => self.state = State::Size,
                State::Gap if first == b'\r' => {}
                State::Gap => return Err(Malformed),
                State::Size if first == b'\n' => self.state = self.size()?,
                State::Size if self.line.len() < SIZE_LINE_MAX => self.line.push(first),
                State::Size => return Err(Malformed),
                State::End => return Ok(()),
            }
            bytes = rest;
        }
        Ok(())
    }

    fn size(&mut self) -> Result<State, Malformed> {
        let line = std::str::from_utf8(&self.line).map_err(|_| Malformed)?;
        let digits = line.trim_end().split(';').next().unwrap_or_default();
        let size = usize::from_str_radix(digits, 16).map_err(|_| Malformed)?;
        self.line.clear();
        Ok(match size {
            0 => State::End,
            size => State::Data(size),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODED: &[u8] = b"5\r\nhello\r\nA;x=y\r\n, world!!\n\r\n0\r\n\r\n";

    #[test]
    fn a_body_is_the_same_however_it_is_cut() {
        for size in 1..CODED.len() {
            let mut chunked = Chunked::default();
            let mut body = Vec::new();
            for piece in CODED.chunks(size) {
                chunked.feed(piece, &mut body).unwrap();
            }
            assert!(chunked.is_over());
            assert_eq!(body, b"hello, world!!\n");
        }
    }

    #[test]
    fn a_wrong_size_is_refused() {
        for wrong in [
            &b"xyz\r\n"[..],
            b"\r\n",
            b"5\r\nhelloX",
            &[b'1'; 100],
            b"ffffffffffffffffff\r\n",
        ] {
            assert_eq!(
                Chunked::default().feed(wrong, &mut Vec::new()),
                Err(Malformed),
                "{wrong:?}"
            );
        }
    }
}
