//! The command line: `key=HEX [limit=MS] NAME [ARGUMENT]...`.
//!
//! The artifact comes as the module; NAME is what the process is called.

use alloc::string::String;
use alloc::vec::Vec;
use satrap_abi::artifact::Key;

/// What the command line asks for.
pub struct Command {
    /// Under which the artifact is authenticated.
    pub key: Key,
    /// After how many ms the process is ended.
    pub limit: Option<u64>,
    /// The process's arguments; the first is its name.
    pub args: Vec<String>,
}

/// How it is written.
pub const USAGE: &str = "the command line must be: key=64 HEX DIGITS [limit=MS] NAME [ARGUMENT]...";

impl Command {
    /// Reads it.
    pub fn parse(line: &str) -> Option<Command> {
        let mut words = line.split_ascii_whitespace().peekable();
        let key = key(words.next()?.strip_prefix("key=")?)?;
        let limit = match words.peek()?.strip_prefix("limit=") {
            Some(limit) => {
                words.next();
                Some(limit.parse().ok()?)
            }
            None => None,
        };
        let args: Vec<String> = words.map(String::from).collect();
        (!args.is_empty()).then_some(Command { key, limit, args })
    }
}

fn key(digits: &str) -> Option<Key> {
    let mut key = Key::default();
    let bytes = digits.as_bytes();
    if bytes.len() != 2 * key.len() {
        return None;
    }
    for (byte, pair) in key.iter_mut().zip(bytes.chunks_exact(2)) {
        *byte = u8::from_str_radix(core::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(key)
}
