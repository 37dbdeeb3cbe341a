//! The commands of `./x`: set-up, build, tests and the checks of the repository's own taste.
//!
//! Standard library only, so that it compiles in seconds. Every command sets up what it needs by itself.
//! To add a test step, add a row to `test/steps.rs`; to add a command, add a row to `COMMANDS` here.

#![forbid(unsafe_code)]

mod bare;
mod build;
mod checks;
mod crates;
mod failure;
mod fuzz;
mod guests;
mod loom;
mod process;
mod programs;
mod repo;
mod setup;
mod test;
mod tidy;
mod toml;
mod ui;

use failure::{Failure, Result};
use repo::Repo;
use std::process::ExitCode;

/// One command of `./x`.
struct Command {
    name: &'static str,
    arguments: &'static str,
    summary: &'static str,
    run: fn(&Repo, &[String]) -> Result<()>,
}

const fn command(
    name: &'static str,
    arguments: &'static str,
    summary: &'static str,
    run: fn(&Repo, &[String]) -> Result<()>,
) -> Command {
    Command {
        name,
        arguments,
        summary,
        run,
    }
}

const COMMANDS: &[Command] = &[
    command(
        "demo",
        "[FOLDER] [--seconds N]",
        "start the PNG service, feed it pictures, show where time goes",
        programs::demo,
    ),
    command(
        "test",
        "[STEP]... [--no-cache] [--verbose] [--list]",
        "run every test",
        test::run,
    ),
    command(
        "bench",
        "[BENCH]... [--quick] [--json]",
        "measure, each figure beside its baseline",
        programs::bench,
    ),
    command(
        "satrap",
        "ARGS...",
        "run the satrap command, built first",
        programs::satrap,
    ),
    command(
        "setup",
        "[--check]",
        "find or install what the other commands need",
        setup::run,
    ),
    command("build", "", "build the programs and the guests", build::run),
    command(
        "guests",
        "[NAME]...",
        "build programs for satellites to Wasm",
        guests::run,
    ),
    command(
        "picture",
        "FILE.svg",
        "draw what comes by standard input, for the documents",
        programs::picture,
    ),
    command("sim", "[ARGS...]", "run the simulation", programs::sim),
    command(
        "loom",
        "[PACKAGE]...",
        "try every interleaving of the lock-free parts",
        loom::run,
    ),
    command(
        "fuzz",
        "[TARGET]... [--seconds N] [--list]",
        "feed the decoders garbage",
        fuzz::run,
    ),
    command(
        "bare",
        "[check | boot]",
        "build for the bare-metal targets; boot a kernel in QEMU",
        bare::run,
    ),
    command("tidy", "", "check the repository's own rules", tidy::run),
    command("fmt", "[--check]", "format", checks::fmt),
    command("clippy", "", "lint, warnings denied", checks::clippy),
    command(
        "doc",
        "[--open]",
        "build the API documentation, warnings denied",
        checks::doc,
    ),
    command(
        "ci",
        "",
        "all checks and tests, as the machine that guards the main branch runs them",
        checks::ci,
    ),
];

fn main() -> ExitCode {
    end_quietly_with_the_reader();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.print();
            ExitCode::from(failure.code())
        }
    }
}

/// `./x test --list | head` closes our output early, which `println!` takes for a reason to panic.
fn end_quietly_with_the_reader() {
    const BROKEN_PIPE: i32 = 128 + 13;
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let message = panic.payload().downcast_ref::<String>();
        if message.is_some_and(|text| text.starts_with("failed printing to stdout")) {
            std::process::exit(BROKEN_PIPE);
        }
        report(panic);
    }));
}

fn dispatch(arguments: &[String]) -> Result<()> {
    let Some((name, rest)) = arguments.split_first() else {
        print!("{}", help());
        return Ok(());
    };
    if matches!(name.as_str(), "help" | "--help" | "-h") {
        print!("{}", help());
        return Ok(());
    }
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        return Err(Failure::usage(format!(
            "there is no command '{name}'; ./x help lists them"
        )));
    };
    let forwards = matches!(command.name, "satrap" | "sim" | "bench" | "demo");
    if !forwards && rest.iter().any(|word| word == "--help" || word == "-h") {
        println!(
            "{}\n\nUsage: ./x {} {}",
            command.summary, command.name, command.arguments
        );
        return Ok(());
    }
    (command.run)(&Repo::find()?, rest)
}

fn help() -> String {
    let mut text = String::from(
        "Satrap's one entry point. Every command first sets up what it needs.\n\nUsage: ./x COMMAND [ARGS]\n\n",
    );
    for command in COMMANDS {
        text += &format!("  {:<8} {}\n", command.name, command.summary);
    }
    text + "
./x COMMAND --help shows a command's arguments.

Environment:
  SATRAP_TOOLCHAIN   auto | debian | rustup: where Wasm and bare-metal code is compiled (default auto)
  CARGO_TARGET_DIR   where build outputs go (default target)
"
}

#[cfg(test)]
mod tests {
    use super::{COMMANDS, help};

    #[test]
    fn help_names_every_command() {
        let help = help();
        for command in COMMANDS {
            assert!(help.contains(&format!("  {} ", command.name)), "{}", command.name);
        }
    }
}
