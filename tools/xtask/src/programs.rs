//! Commands that build a program of this repository and become it: satrap, demo, bench, sim.
//!
//! They find the programs and guests through two variables: `SATRAP_BIN_DIR`, the folder of `satrap`,
//! `satrap-hosted` and `satrap-compiler`, and `SATRAP_GUESTS`, the folder of every guest's `NAME.wasm`.

use crate::build::{self, cargo};
use crate::crates::Crates;
use crate::failure::{Failure, Result};
use crate::repo::Repo;
use crate::setup::{self, CURL, Need};
use crate::{guests, process};
use std::process::Command;

/// Makes tests fail that would otherwise be skipped where a program or guest is missing.
pub const INSIST: (&str, &str) = ("SATRAP_E2E", "1");

/// Tells a child where the programs and guests are.
pub fn with_programs<'a>(repo: &Repo, command: &'a mut Command) -> &'a mut Command {
    command
        .env("SATRAP_BIN_DIR", repo.programs())
        .env("SATRAP_GUESTS", repo.guests())
}

/// `./x satrap ARGS...`
pub fn satrap(repo: &Repo, arguments: &[String]) -> Result<()> {
    build::programs(repo, &[])?;
    become_program(repo, "satrap", arguments)
}

/// `./x demo [FOLDER] [--seconds N]`
pub fn demo(repo: &Repo, arguments: &[String]) -> Result<()> {
    show(repo, "satrap-demo", &[CURL], arguments)
}

/// `./x bench [BENCH]... [--quick] [--json]`
pub fn bench(repo: &Repo, arguments: &[String]) -> Result<()> {
    // Apart from the rest, so that its features stay its own.
    process::run(cargo(repo, "build").args(["--release", "-p", "satrap-bench-iceoryx2"]))?;
    show(repo, "satrap-bench", &[], arguments)
}

/// Builds everything and the program of `package`, which has the package's name, and becomes it.
fn show(repo: &Repo, package: &str, needs: &[Need], arguments: &[String]) -> Result<()> {
    setup::ensure(repo, needs)?;
    // In one invocation with the other programs: alone, Cargo would give their common crates other features.
    build::programs(repo, &[package])?;
    guests::run(repo, &[])?;
    if Crates::read(repo)?.get(package).is_none() {
        return Err(Failure::new(format!(
            "the package {package} is not in this workspace"
        )));
    }
    become_program(repo, package, arguments)
}

/// `./x sim [ARGS...]`
pub fn sim(repo: &Repo, arguments: &[String]) -> Result<()> {
    process::run(cargo(repo, "build").args(["--release", "-p", "satrap-sim"]))?;
    become_program(repo, "satrap-sim", arguments)
}

/// `COMMAND | ./x picture FILE.svg`
pub fn picture(repo: &Repo, arguments: &[String]) -> Result<()> {
    process::run(cargo(repo, "build").args(["--release", "-p", "satrap-picture"]))?;
    become_program(repo, "satrap-picture", arguments)
}

/// Replaces this process, so that signals and the terminal are the program's own.
fn become_program(repo: &Repo, name: &str, arguments: &[String]) -> Result<()> {
    use std::os::unix::process::CommandExt;
    let program = repo.programs().join(name);
    let mut command = process::command(&program);
    let error = with_programs(repo, command.args(arguments)).exec();
    Err(Failure::new(format!("{}: {error}", program.display())))
}
