//! The checks that are cargo's own: format, lints, documentation; and `ci`, which runs everything.
//!
//! Each runs for the host group and, apart, for the compiler (see `build.rs` for why). Guests and fuzz
//! targets are checked as host code, which needs no further target.

use crate::build::{COMPILER, cargo};
use crate::crates::Crates;
use crate::failure::{Failure, Result};
use crate::repo::Repo;
use crate::setup::{self, CPP};
use crate::{fuzz, process};
use std::process::Command;

/// `./x fmt [--check]`
pub fn fmt(repo: &Repo, arguments: &[String]) -> Result<()> {
    has(repo, "fmt", "rustfmt")?;
    let mut fmt = process::command("cargo");
    fmt.current_dir(repo.root()).args(["fmt", "--all"]);
    match arguments {
        [] => process::run(&mut fmt),
        [flag] if flag == "--check" => process::run(fmt.arg("--check")),
        _ => Err(Failure::usage("usage: ./x fmt [--check]")),
    }
}

/// `./x clippy`
pub fn clippy(repo: &Repo, _: &[String]) -> Result<()> {
    has(repo, "clippy", "clippy")?;
    for group in groups(repo)? {
        let mut clippy = cargo(repo, "clippy");
        clippy
            .args(["--all-targets", "--keep-going"])
            .args(group)
            .args(["--", "--deny", "warnings"]);
        process::run(&mut clippy)?;
    }
    Ok(())
}

/// Its program has the name of the SDK's library, and the pages of one would replace those of the other.
const NAMESAKE: &str = "satrap-cli";

/// `./x doc [--open]`
pub fn doc(repo: &Repo, arguments: &[String]) -> Result<()> {
    for mut group in groups(repo)? {
        if let Some(at) = group.iter().position(|word| word == NAMESAKE) {
            group.drain(at - 1..=at);
        }
        let mut doc = cargo(repo, "doc");
        doc.args(["--no-deps", "--document-private-items", "--keep-going"])
            .args(group)
            .args(arguments);
        process::run(doc.env(
            "RUSTDOCFLAGS",
            "--deny warnings --allow rustdoc::private_intra_doc_links",
        ))?;
    }
    Ok(())
}

/// `./x ci`: the one list of checks stands in `.ci/run`.
pub fn ci(repo: &Repo, _: &[String]) -> Result<()> {
    process::run(Command::new(repo.path(".ci/run")).current_dir(repo.root()))
}

/// Package arguments for each group that is compiled apart.
fn groups(repo: &Repo) -> Result<Vec<Vec<String>>> {
    let crates = Crates::read(repo)?;
    let fuzz = crates.get(fuzz::PACKAGE);
    if fuzz.is_some() {
        setup::ensure(repo, &[CPP])?;
    }
    let mut host = Vec::new();
    for package in crates.host().chain(crates.guests()).chain(fuzz) {
        host.extend(["-p".to_string(), package.name.clone()]);
    }
    host.extend(crates.test_features());
    let mut groups = vec![host];
    if crates.get(COMPILER).is_some() {
        groups.push(vec!["-p".to_string(), COMPILER.to_string()]);
    }
    Ok(groups)
}

/// Says which component is missing, instead of cargo's "no such command".
fn has(repo: &Repo, subcommand: &str, component: &str) -> Result<()> {
    let mut probe = process::command("cargo");
    probe.current_dir(repo.root()).args([subcommand, "--version"]);
    match process::output(&mut probe) {
        Some(_) => Ok(()),
        None => Err(Failure::new(format!(
            "the active toolchain has no {component}; install it: rustup component add {component}"
        ))),
    }
}
