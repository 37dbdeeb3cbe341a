//! How a command fails: an exit code, what was wrong, and what to do about it.
//!
//! The only place where errors of the layers below become words on the terminal.

use crate::ui::style::{Colour, Style};
use satrap_coordinator::{ConnectError, ServeError, StartError, api::ApiError};
use serde::{Deserialize, Serialize};
use std::{
    fmt::Display,
    io::{self, Write},
    path::Path,
};

/// What a command returns.
pub type Result<T = ()> = std::result::Result<T, Failure>;

/// Exit code of a command that failed.
const FAILED: u8 = 1;
/// Exit code of a command line that is wrong.
const USAGE: u8 = 2;
/// Exit code where a coordinator is needed and none runs.
const NOT_RUNNING: u8 = 3;
/// Exit code when the output's reader went away: as after SIGPIPE.
const PIPE: u8 = 141;

/// How diagnostics of several lines begin, as this command's errors do anyway.
const DIAGNOSTIC: &str = "error: ";

/// Why a command did not do what was asked.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    code: u8,
    /// Empty when there is nothing to say.
    message: String,
    help: Option<String>,
}

impl Failure {
    /// It failed.
    pub fn new(message: impl Into<String>) -> Failure {
        Failure {
            code: FAILED,
            message: message.into(),
            help: None,
        }
    }

    /// It was asked for in the wrong way.
    pub fn usage(message: impl Into<String>) -> Failure {
        Failure {
            code: USAGE,
            ..Failure::new(message)
        }
    }

    /// A file cannot be used.
    pub fn file(path: &Path, error: &io::Error) -> Failure {
        Failure::new(format!("cannot read {}: {}", path.display(), plain(error)))
    }

    /// Adds what to do.
    pub fn help(mut self, help: impl Into<String>) -> Failure {
        self.help = Some(help.into());
        self
    }

    /// The exit code.
    pub fn code(&self) -> u8 {
        self.code
    }

    /// What is printed: empty when there is nothing to say.
    pub fn render(&self, style: Style) -> String {
        if self.message.is_empty() {
            return String::new();
        }
        let mut text = format!(
            "{} {}\n",
            style.paint(Colour::Error, "error:"),
            self.message.trim_end()
        );
        if let Some(help) = &self.help {
            text += &format!(" {} {help}\n", style.paint(Colour::Bold, "help:"));
        }
        text
    }

    /// The same for a machine: one line of JSON.
    fn json(&self) -> String {
        #[derive(Serialize)]
        struct Line<'a> {
            error: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            help: Option<&'a str>,
            code: u8,
        }
        let line = Line {
            error: self.message.trim_end(),
            help: self.help.as_deref(),
            code: self.code,
        };
        match serde_json::to_string(&line) {
            Ok(json) if !self.message.is_empty() => json + "\n",
            _ => String::new(),
        }
    }

    /// Prints it to standard error: results, and they alone, go to standard output.
    pub fn print(&self, style: Style, json: bool) {
        let text = if json { self.json() } else { self.render(style) };
        // When standard error is closed too, the exit code is all that is left to say it with.
        let _ = io::stderr().write_all(text.as_bytes());
    }
}

/// An operating-system error in words, without its number.
pub fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => lower(&text[..end]),
        None => text,
    }
}

fn lower(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_lowercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

/// An error of the standard output: its only writer is `ui::output`.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure {
                code: PIPE,
                ..Failure::new("")
            },
            _ => Failure::new(format!("cannot write to standard output: {}", plain(&error))),
        }
    }
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Failure {
        match error.error.strip_prefix(DIAGNOSTIC) {
            // A manifest's diagnostics stand as they are, each with its own help.
            Some(diagnostics) => Failure::new(diagnostics),
            None if error.error.contains('\n') => Failure::new(error.error),
            None => said(&error.error),
        }
    }
}

/// What the command line has to say about itself, without its colours.
impl From<&clap::Error> for Failure {
    fn from(error: &clap::Error) -> Failure {
        let text = error.render().to_string();
        let text = text.strip_prefix(DIAGNOSTIC).unwrap_or(&text).trim();
        match text.split_once("\n\n") {
            Some((what, help)) => Failure::usage(what).help(help),
            None => Failure::usage(text),
        }
    }
}

impl From<ConnectError> for Failure {
    fn from(error: ConnectError) -> Failure {
        let failure = said(&error);
        match error {
            ConnectError::NotRunning(_) => Failure {
                code: NOT_RUNNING,
                ..failure
            },
            ConnectError::Io(..) => failure,
        }
    }
}

impl From<StartError> for Failure {
    fn from(error: StartError) -> Failure {
        said(&error)
    }
}

impl From<ServeError> for Failure {
    fn from(error: ServeError) -> Failure {
        said(&error)
    }
}

/// The layers below say `what; what to do`: the second half becomes the help.
fn said(error: &dyn Display) -> Failure {
    let text = error.to_string();
    match text.split_once("; ") {
        Some((what, help)) => Failure::new(what).help(help),
        None => Failure::new(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn an_error_says_what_was_wrong_and_what_to_do() {
        let failure = Failure::from(ConnectError::NotRunning(PathBuf::from("/s")));
        assert_eq!(failure.code(), 3);
        assert_eq!(
            failure.render(Style::plain()),
            "error: no coordinator runs on /s\n help: start one with `satrap up`\n"
        );
    }

    #[test]
    fn a_machine_is_told_the_same_in_one_line() {
        let failure = Failure::from(ApiError::new(404, "there is no `x`; `satrap ps` lists them"));
        assert_eq!(
            failure.json(),
            "{\"error\":\"there is no `x`\",\"help\":\"`satrap ps` lists them\",\"code\":1}\n"
        );
        assert_eq!(
            Failure::from(io::Error::from(io::ErrorKind::BrokenPipe)).json(),
            ""
        );
    }

    #[test]
    fn diagnostics_are_called_errors_once() {
        let failure = Failure::from(ApiError::new(422, "error: unknown key\n --> a.toml:1:1"));
        assert_eq!(
            failure.render(Style::plain()),
            "error: unknown key\n --> a.toml:1:1\n"
        );
    }

    #[test]
    fn a_closed_pipe_ends_a_command_without_a_word() {
        let failure = Failure::from(io::Error::from(io::ErrorKind::BrokenPipe));
        assert_eq!(
            (failure.code(), failure.render(Style::plain())),
            (141, String::new())
        );
    }

    #[test]
    fn an_operating_system_error_is_told_in_words() {
        let failure = Failure::file(Path::new("a.wasm"), &io::Error::from_raw_os_error(2));
        assert_eq!(
            failure.render(Style::plain()),
            "error: cannot read a.wasm: no such file or directory\n"
        );
    }
}
