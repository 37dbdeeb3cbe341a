//! What a command ends with when it does not succeed.
//!
//! A failure is a sentence for a person: what was wrong, and what to do. It also carries the exit status:
//! 2 for a wrong command line, a child's own status where a child was the command, else 1.

use std::fmt::Display;

/// Why a command failed.
#[derive(Debug)]
pub struct Failure {
    message: String,
    code: u8,
}

/// What every fallible function here returns.
pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// A failure that the message explains.
    pub fn new(message: impl Into<String>) -> Failure {
        Failure {
            message: message.into(),
            code: 1,
        }
    }

    /// A command line that makes no sense.
    pub fn usage(message: impl Into<String>) -> Failure {
        Failure {
            message: message.into(),
            code: 2,
        }
    }

    /// A child ended with `code` and has said why itself.
    pub fn child(code: u8) -> Failure {
        Failure {
            message: String::new(),
            code,
        }
    }

    /// The exit status.
    pub fn code(&self) -> u8 {
        self.code
    }

    /// The sentence.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Tells the user, on standard error.
    pub fn print(&self) {
        if !self.message.is_empty() {
            eprintln!("x: {}", self.message);
        }
    }
}

/// Names the file or program that an operating-system error is about.
pub trait About<T> {
    /// Turns the error into a failure that begins with `what`.
    fn about(self, what: impl Display) -> Result<T>;
}

impl<T, E: Display> About<T> for std::result::Result<T, E> {
    fn about(self, what: impl Display) -> Result<T> {
        self.map_err(|error| Failure::new(format!("{what}: {error}")))
    }
}
