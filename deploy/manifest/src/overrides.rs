//! Overrides: anybody may change a placement number without touching the file (DESIGN §8).
//!
//! `process.channel=N`, `process.self=N`, `process.platform:NAME=N`, as given to `--affinity`.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use satrap_placement::AFFINITY_MAX;
use serde::Serialize;

use crate::model::{Manifest, Process};
use crate::name::check_platform;
use crate::suggest::{listed, nearest};

/// One affinity of a process.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Number {
    /// `channel`: the affinity of the channel of that name.
    Channel(String),
    /// `self`: the self-affinity.
    Own,
    /// `platform:NAME`: the preference for a platform, 0 and up; 0 takes it away.
    Platform(String),
}

/// Another value for one affinity of a manifest. Parse it with `text.parse::<Override>()`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Override {
    /// As it was written.
    pub text: String,
    /// The process's name in the manifest; its instances are changed together.
    pub process: String,
    /// Which of its affinities.
    pub number: Number,
    /// The value, at most 1,000,000 either way.
    pub value: i32,
}

/// What is wrong with an override. `Display` shows the place.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct OverrideError {
    /// The override as it was written.
    pub text: String,
    /// The part at fault, in bytes of `text`.
    pub at: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
}

impl fmt::Display for OverrideError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = |range: Range<usize>| self.text.get(range).map_or(0, |part| part.chars().count());
        let before = width(0..self.at.start);
        writeln!(f, "bad override: {}", self.message)?;
        writeln!(f, "  {}", self.text.replace(char::is_control, "\u{fffd}"))?;
        write!(
            f,
            "  {:before$}{} {}",
            "",
            "^".repeat(width(self.at.clone()).max(1)),
            self.help
        )
    }
}

impl std::error::Error for OverrideError {}

const FORMS: &str = "write `process.channel=N`, `process.self=N` or `process.platform:NAME=N`";

impl FromStr for Override {
    type Err = OverrideError;

    fn from_str(text: &str) -> Result<Override, OverrideError> {
        let text = text.trim();
        let fail = |at: Range<usize>, message: &str, help: &str| {
            Err(OverrideError {
                text: text.to_string(),
                at,
                message: message.to_string(),
                help: help.to_string(),
            })
        };
        let end = text.len();
        let Some(equals) = text.find('=') else {
            return fail(end..end, "there is no `=`", FORMS);
        };
        let Some(dot) = text[..equals].find('.') else {
            return fail(0..equals, "this names no affinity of a process", FORMS);
        };
        let value = match text[equals + 1..].trim().parse::<i32>() {
            Ok(value) if value.unsigned_abs() <= AFFINITY_MAX.unsigned_abs() => value,
            _ => {
                let help = format!("write a whole number from -{AFFINITY_MAX} to {AFFINITY_MAX}");
                return fail(equals + 1..end, "this is not an affinity", &help);
            }
        };
        let name = text[dot + 1..equals].trim_end();
        let number = match name.strip_prefix("platform:") {
            Some(platform) => Number::Platform(platform.to_string()),
            None if name == "self" => Number::Own,
            None => Number::Channel(name.to_string()),
        };
        if let Number::Platform(platform) = &number {
            if let Err(why) = check_platform(platform) {
                return fail(
                    dot + 1..equals,
                    &format!("this is not the name of a platform: {why}"),
                    FORMS,
                );
            }
            if value < 0 {
                let help = "prefer the other platforms instead, or write 0 to take the preference away";
                return fail(
                    equals + 1..end,
                    "a platform cannot be avoided by a negative number",
                    help,
                );
            }
        }
        Ok(Override {
            text: text.to_string(),
            process: text[..dot].to_string(),
            number,
            value,
        })
    }
}

impl Override {
    fn fail(&self, at: Range<usize>, message: String, help: String) -> OverrideError {
        OverrideError {
            text: self.text.clone(),
            at,
            message,
            help,
        }
    }

    /// Changes a process that is the one named.
    fn apply_to(&self, process: &mut Process) -> Result<(), OverrideError> {
        match &self.number {
            Number::Own => process.self_affinity = self.value,
            Number::Platform(name) if self.value == 0 => {
                process.platforms.remove(name);
            }
            Number::Platform(name) => {
                process.platforms.insert(name.clone(), self.value.unsigned_abs());
            }
            Number::Channel(name) => {
                let Some(channel) = process.channels.iter_mut().find(|channel| channel.name == *name) else {
                    return Err(self.no_channel(process, name));
                };
                channel.affinity = self.value;
            }
        }
        Ok(())
    }

    fn no_channel(&self, process: &Process, name: &str) -> OverrideError {
        let channels = || process.channels.iter().map(|channel| channel.name.as_str());
        let start = self.process.len() + 1;
        let message = format!("process `{}` has no channel `{name}`", process.name);
        let help = advice(nearest(name, channels().chain(["self"])), channels());
        self.fail(start..start + name.len(), message, help)
    }
}

/// What was meant if it can be guessed, otherwise what there is.
fn advice<'n>(meant: Option<&str>, there_is: impl Iterator<Item = &'n str>) -> String {
    match meant {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("it has {}", listed(there_is)),
    }
}

impl Manifest {
    /// Applies overrides, in order; a later one wins. On an error nothing is changed.
    ///
    /// # Errors
    /// All overrides that name a process or a channel that is not there.
    pub fn apply(&mut self, overrides: &[Override]) -> Result<(), Vec<OverrideError>> {
        let mut changed = self.clone();
        let errors: Vec<_> = overrides
            .iter()
            .filter_map(|each| changed.apply_one(each).err())
            .collect();
        if !errors.is_empty() {
            return Err(errors);
        }
        *self = changed;
        Ok(())
    }

    fn apply_one(&mut self, change: &Override) -> Result<(), OverrideError> {
        if let Some(process) = self
            .processes
            .iter_mut()
            .find(|process| process.name == change.process)
        {
            return change.apply_to(process);
        }
        let names = || self.processes.iter().map(|process| process.name.as_str());
        let message = format!(
            "application `{}` has no process `{}`",
            self.application.name, change.process
        );
        let help = advice(nearest(&change.process, names()), names());
        Err(change.fail(0..change.process.len(), message, help))
    }
}
