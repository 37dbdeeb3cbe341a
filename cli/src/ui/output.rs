//! Standard output: the one place that writes to it, so that a closed pipe ends every command quietly.
//!
//! Results go here and all else to standard error; with `--json`, results are JSON.

use crate::failure::Result;
use serde::Serialize;
use std::io::{self, Write};

/// Writes text as it is.
pub fn text(text: &str) -> Result {
    bytes(text.as_bytes())
}

/// Writes bytes as they are, at once.
pub fn bytes(bytes: &[u8]) -> Result {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    Ok(out.flush()?)
}

/// Writes a value as one line of JSON.
pub fn json(value: &impl Serialize) -> Result {
    // Values of the control API have string keys, which is all that JSON asks.
    let mut line = serde_json::to_string(value).map_err(io::Error::from)?;
    line.push('\n');
    text(&line)
}
