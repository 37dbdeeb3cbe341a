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
use std::path::Path;
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
    let stamp = repo.target("x").join(format!("built-{}", packages.join("-")));
    let quiet: &[&str] = match is_newest(repo, &stamp) {
        true => &["--quiet"],
        false => &[],
    };
    let mut host = cargo(repo, "build");
    host.arg("--release").args(quiet);
    for package in packages {
        host.args(["-p", package]);
    }
    process::run(&mut host)?;
    if crates.get(COMPILER).is_some() {
        let mut compiler = cargo(repo, "build");
        compiler.args(["--profile", COMPILER_PROFILE, "-p", COMPILER]);
        process::run(compiler.args(quiet))?;
        let built = repo.target(COMPILER_PROFILE).join(COMPILER);
        let place = repo.programs().join(COMPILER);
        link(&built, &place).about(place.display())?;
    }
    fs::create_dir_all(repo.target("x"))
        .and_then(|()| fs::write(&stamp, ""))
        .about(stamp.display())
}

/// Whether no file of the repository has changed since that one was written: then Cargo will find nothing to do,
/// and need not say so. A file that changes while Cargo runs makes it silent, and nothing worse.
fn is_newest(repo: &Repo, stamp: &Path) -> bool {
    let changed = |path: &Path| fs::metadata(path).and_then(|metadata| metadata.modified());
    let (Ok(written), Ok(files)) = (changed(stamp), repo.files("")) else {
        return false;
    };
    files
        .iter()
        .all(|file| changed(&repo.path(file)).is_ok_and(|time| time <= written))
}

/// Programs look for each other beside themselves, so the compiler is linked to where the others are.
fn link(built: &Path, place: &Path) -> std::io::Result<()> {
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

/// A cargo for this machine, in the repository.
pub fn cargo(repo: &Repo, subcommand: &str) -> Command {
    let mut cargo = process::command("cargo");
    cargo
        .current_dir(repo.root())
        .arg(subcommand)
        .arg("--target-dir")
        .arg(repo.target(""));
    cargo
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::scratch;

    #[test]
    fn what_is_newest_is_known_by_its_time() {
        let root = scratch("newest");
        fs::create_dir_all(root.join("src")).unwrap();
        fs::write(root.join("src/a.rs"), "").unwrap();
        let (repo, stamp) = (Repo::at(&root), root.join("target/x/built"));
        assert!(!is_newest(&repo, &stamp), "it is not there yet");
        fs::create_dir_all(root.join("target/x")).unwrap();
        fs::write(&stamp, "").unwrap();
        assert!(is_newest(&repo, &stamp));
        let later = std::time::SystemTime::now() + std::time::Duration::from_secs(1);
        let file = fs::File::options()
            .write(true)
            .open(root.join("src/a.rs"))
            .unwrap();
        file.set_modified(later).unwrap();
        assert!(!is_newest(&repo, &stamp));
        fs::remove_dir_all(root).unwrap();
    }
}
