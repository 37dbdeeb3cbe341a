//! Runs the loom tests: every interleaving of the lock-free parts, within loom's bounds.
//!
//! A crate takes part by having such tests: files `tests/loom*.rs`, or modules of its library marked
//! `cfg(all(test, loom))` whose name has `loom` in it. Ordinary tests do not run under loom.

use crate::crates::{Crate, Crates};
use crate::failure::{About, Result};
use crate::process;
use crate::repo::Repo;
use std::fs;
use std::process::Command;

/// `./x loom [PACKAGE]...`
pub fn run(repo: &Repo, packages: &[String]) -> Result<()> {
    for mut command in commands(repo, packages)? {
        process::run(&mut command)?;
    }
    Ok(())
}

/// The packages that have loom tests.
pub fn packages(repo: &Repo) -> Result<Vec<String>> {
    let crates = Crates::read(repo)?;
    let mut found = Vec::new();
    for each in crates.all() {
        if !files(repo, each)?.is_empty() || in_library(repo, each)? {
            found.push(each.name.clone());
        }
    }
    Ok(found)
}

/// The cargo invocations for `packages`, or for all when that is empty.
pub fn commands(repo: &Repo, packages: &[String]) -> Result<Vec<Command>> {
    let crates = Crates::read(repo)?;
    let mut commands = Vec::new();
    for each in crates
        .all()
        .filter(|each| packages.is_empty() || packages.contains(&each.name))
    {
        for test in files(repo, each)? {
            let mut cargo = cargo(repo, each);
            cargo.args(["--test", &test]);
            commands.push(cargo);
        }
        if in_library(repo, each)? {
            let mut cargo = cargo(repo, each);
            cargo.args(["--lib", "--", "loom"]);
            commands.push(cargo);
        }
    }
    Ok(commands)
}

fn cargo(repo: &Repo, each: &Crate) -> Command {
    let mut cargo = process::command("cargo");
    cargo
        .current_dir(repo.root())
        .args(["test", "--release", "-p", &each.name, "--target-dir"]);
    cargo.arg(repo.target("loom")).env("RUSTFLAGS", "--cfg loom");
    cargo
}

/// The names of its `tests/loom*.rs`.
fn files(repo: &Repo, each: &Crate) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for file in repo.files(&format!("{}/tests", each.folder))? {
        let stem = file
            .file_stem()
            .map(|stem| stem.to_string_lossy().into_owned())
            .unwrap_or_default();
        let top = file.parent().is_some_and(|parent| parent.ends_with("tests"));
        if top && stem.starts_with("loom") {
            names.push(stem);
        }
    }
    Ok(names)
}

/// Marks a module of tests for loom; put together here so that this file does not count as one.
const MARK: &str = concat!("#[cfg(all(test,", " loom))]");

/// Whether a file of its library has tests for loom alone.
fn in_library(repo: &Repo, each: &Crate) -> Result<bool> {
    for file in repo.files(&format!("{}/src", each.folder))? {
        let text = fs::read(repo.path(&file)).about(file.display())?;
        if String::from_utf8_lossy(&text).contains(MARK) {
            return Ok(true);
        }
    }
    Ok(false)
}
