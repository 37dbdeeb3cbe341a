//! Compiles programs for satellites: every crate marked `[package.metadata.satrap] guest = true`, in one
//! cargo invocation, because each one would otherwise look at the whole standard library again.
//!
//! `NAME.wasm` goes to `target/guests`, and beside the nearest `Satrap.toml` above the crate, where a
//! manifest's `program = "NAME.wasm"` finds it. A file that has not changed keeps its time stamp.

use crate::crates::{Crate, Crates, nearest};
use crate::failure::{About, Failure, Result};
use crate::process;
use crate::repo::Repo;
use crate::setup::{self, WASM, target};
use std::fs;
use std::path::Path;
use std::process::Command;

const OUTPUT: &str = "guest/wasm32-unknown-unknown/guest";

/// `./x guests [NAME]...`: builds all, or those named.
pub fn run(repo: &Repo, names: &[String]) -> Result<()> {
    setup::ensure(repo, &[WASM])?;
    let crates = Crates::read(repo)?;
    for name in names {
        if !crates.guests().any(|guest| guest.name == *name) {
            let known: Vec<&str> = crates.guests().map(|guest| guest.name.as_str()).collect();
            return Err(Failure::usage(format!(
                "there is no guest '{name}'; there are: {}",
                known.join(", ")
            )));
        }
    }
    let chosen = |guest: &&Crate| names.is_empty() || names.contains(&guest.name);
    let guests: Vec<&Crate> = crates.guests().filter(chosen).collect();
    if guests.is_empty() {
        return Ok(());
    }
    process::run(&mut compile(repo, &guests)?)?;
    for guest in guests {
        place(repo, guest)?;
    }
    Ok(())
}

fn compile(repo: &Repo, guests: &[&Crate]) -> Result<Command> {
    let mut cargo = target::cargo("build", &[&target::WASM])?;
    cargo
        .current_dir(repo.root())
        .args(["--quiet", "--profile", "guest", "--target-dir"])
        .arg(repo.target("guest"));
    for guest in guests {
        cargo.args(["-p", &guest.name]);
    }
    Ok(cargo)
}

/// Copies what a guest was compiled to, to where it is looked for.
fn place(repo: &Repo, guest: &Crate) -> Result<()> {
    let manifest = nearest(repo, &guest.folder, "Satrap.toml");
    for name in programs(repo, guest)? {
        let wasm = repo.target(OUTPUT).join(format!("{name}.wasm"));
        copy(&wasm, &repo.guests().join(format!("{name}.wasm")))?;
        if let Some(folder) = &manifest {
            copy(&wasm, &folder.join(format!("{name}.wasm")))?;
        }
    }
    Ok(())
}

/// The names of a guest's Wasm files, without `.wasm`.
fn programs(repo: &Repo, guest: &Crate) -> Result<Vec<String>> {
    let mut names = guest.programs(repo)?;
    if guest
        .entries
        .iter()
        .any(|e| e.section == "lib" && e.key == "crate-type" && e.value.contains("cdylib"))
    {
        names.push(
            guest
                .value("lib", "name")
                .unwrap_or(&guest.name)
                .replace('-', "_"),
        );
    }
    Ok(names)
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    let new = fs::read(from).about(from.display())?;
    if fs::read(to).is_ok_and(|old| old == new) {
        return Ok(());
    }
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).about(folder.display())?;
    }
    fs::write(to, new).about(to.display())
}
