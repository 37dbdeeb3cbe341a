//! The `satrap` command: parse, do, and say how it ended.
//!
//! Principles: nothing heavy before a run; every error says what was wrong, where, and what to do; what a
//! machine reads (`--json`) and what a person reads come from the same values. Neighbours: `arguments` is the
//! whole language, `commands` has one file for each verb, `ui` draws, `satrap-coordinator` does the work.

#![forbid(unsafe_code)]

mod arguments;
mod commands;
mod connect;
mod context;
mod failure;
mod signals;
#[cfg(test)]
mod testing;
mod timings;
mod ui;

use arguments::Arguments;
use clap::Parser;
use context::Context;
use failure::Failure;
use std::{env, process, process::ExitCode};
use timings::Timings;
use ui::style::Style;

fn main() -> ExitCode {
    let timings = Timings::start();
    let Arguments { global, command } = Arguments::try_parse().unwrap_or_else(|error| refuse(&error));
    let context = Context::new(&global, timings);
    context.timings.mark("arguments read");
    let code = match commands::execute(&context, command) {
        Ok(code) => code,
        Err(failure) => {
            failure.print(context.err, context.json);
            failure.code()
        }
    };
    context.timings.mark("done");
    context.timings.print();
    ExitCode::from(code)
}

/// Ends with what is wrong with the command line, or with the help that was asked for.
fn refuse(error: &clap::Error) -> ! {
    let json = env::args()
        .take_while(|word| word != "--")
        .any(|word| word == "--json");
    if json && error.use_stderr() {
        let failure = Failure::from(error);
        failure.print(Style::plain(), true);
        process::exit(failure.code().into());
    }
    error.exit()
}
