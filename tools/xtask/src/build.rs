//! Builds the programs: the host group, the compiler, the guests.
//!
//! `satrap-compiler` has an invocation of its own: it links wasmtime with `std` and Cranelift, and Cargo
//! would unite those features with the satellites' `no_std` engine. One target folder serves both, so that
//! what they share is compiled once; the compiler's profile unwinds, so that its tests share that build too.

use crate::crates::Crates;
use crate::failure::{About, Failure, Result};
use crate::repo::Repo;
use crate::{guests, process};
use std::fs;
use std::process::Command;

/// The packages of the programs `satrap` and `satrap-hosted`.
const HOST: [&str; 2] = ["satrap-cli", "satrap-hosted"];
/// The package and program that compiles Wasm to native code.
pub const COMPILER: &str = "satrap-compiler";
/// Its Cargo profile.
pub const COMPILER_PROFILE: &str = "tool";

/// `./x build`.
pub fn run(repo: &Repo, arguments: &[String]) -> Result<()> {
    if !arguments.is_empty() {
        return Err(Failure::usage("usage: ./x build"));
    }
    all(repo)
}

/// Builds everything that a user runs.
pub fn all(repo: &Repo) -> Result<()> {
    programs(repo, &[])?;
    guests::run(repo, &[])
}

/// Builds the host programs with the packages `more`, and the compiler.
pub fn programs(repo: &Repo, more: &[&str]) -> Result<()> {
    let crates = Crates::read(repo)?;
    let present = |name: &&str| crates.get(name).is_some();
    let packages: Vec<&str> = HOST.iter().chain(more).copied().filter(present).collect();
    let mut host = cargo(repo, "build");
    host.arg("--release");
    for package in packages {
        host.args(["-p", package]);
    }
    process::run(&mut host)?;
    if crates.get(COMPILER).is_none() {
        return Ok(());
    }
    process::run(cargo(repo, "build").args(["--profile", COMPILER_PROFILE, "-p", COMPILER]))?;
    let built = repo.target(COMPILER_PROFILE).join(COMPILER);
    let place = repo.programs().join(COMPILER);
    link(&built, &place).about(place.display())
}

/// Programs look for each other beside themselves, so the compiler is linked to where the others are.
fn link(built: &std::path::Path, place: &std::path::Path) -> std::io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    if let (Ok(built), Ok(place)) = (fs::metadata(built), fs::metadata(place))
        && built.ino() == place.ino()
        && built.dev() == place.dev()
    {
        return Ok(());
    }
    if place.exists() {
        fs::remove_file(place)?;
    }
    fs::hard_link(built, place).or_else(|_| fs::copy(built, place).map(|_| ()))
}

/// A cargo for this machine, in the repository, quiet when it has nothing to do.
pub fn cargo(repo: &Repo, subcommand: &str) -> Command {
    let mut cargo = process::command("cargo");
    cargo
        .current_dir(repo.root())
        .arg(subcommand)
        .arg("--target-dir")
        .arg(repo.target(""));
    cargo
}
