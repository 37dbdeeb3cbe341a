//! What every command is given: where the coordinator is, how to print, and the clock of `--timings`.
//!
//! `main.rs` makes it once from the global options; commands keep nothing between each other.

use crate::{arguments::Global, timings::Timings, ui::style::Style};
use satrap_coordinator::default_path;
use std::{io, path::PathBuf};

/// What every command is given.
pub struct Context {
    /// The coordinator's control socket.
    pub socket: PathBuf,
    /// Whether a machine reads the output.
    pub json: bool,
    /// Colours of standard output.
    pub out: Style,
    /// Colours of standard error.
    pub err: Style,
    /// Where the time goes.
    pub timings: Timings,
}

impl Context {
    /// From the options of every command.
    pub fn new(global: &Global, mut timings: Timings) -> Context {
        if global.timings {
            timings.enable();
        }
        Context {
            socket: global.socket.clone().unwrap_or_else(default_path),
            json: global.json,
            out: Style::of(global.color, &io::stdout()),
            err: Style::of(global.color, &io::stderr()),
            timings,
        }
    }
}
