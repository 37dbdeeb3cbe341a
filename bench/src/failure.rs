//! Why a bench could not be made, in words that say what to do. A missed goal is not a failure.
//!
//! `main.rs` prints it and ends with 1; `figure.rs` says which goals were missed.

use std::fmt;

/// What went wrong.
#[derive(Debug)]
pub struct Failure(String);

/// The result of anything that may fail so.
pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// With these words.
    pub fn new(words: impl Into<String>) -> Failure {
        Failure(words.into())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Says what was being done when an error came.
pub trait About<T> {
    /// `doing` comes before the error's own words.
    fn about(self, doing: impl fmt::Display) -> Result<T>;
}

impl<T, E: fmt::Display> About<T> for std::result::Result<T, E> {
    fn about(self, doing: impl fmt::Display) -> Result<T> {
        self.map_err(|error| Failure(format!("{doing}: {error}")))
    }
}
