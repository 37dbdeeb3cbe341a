//! Bare metal: the kernel and the engine build for three targets with nothing in them changed for it, and
//! a kernel made of them boots in QEMU and runs a process.
//!
//! Neighbours: `platforms/x86_64` is the kernel; `setup/target.rs` knows how to compile for the targets.

use crate::crates::Crates;
use crate::failure::{Failure, Result};
use crate::repo::Repo;
use crate::setup::{self, BARE, QEMU, target};
use crate::{guests, process};

/// The packages that must build for bare metal as they are.
pub const PORTABLE: [&str; 2] = ["satrap-kernel", "satrap-engine"];
/// The kernel of the x86-64 platform, and the program that boots it in QEMU and checks what it says.
pub const KERNEL: &str = "satrap-x86_64";

/// `./x bare [check | boot]`
pub fn run(repo: &Repo, arguments: &[String]) -> Result<()> {
    match arguments
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .as_slice()
    {
        [] => check(repo).and_then(|()| boot(repo)),
        ["check"] => check(repo),
        ["boot"] => boot(repo),
        _ => Err(Failure::usage("usage: ./x bare [check | boot]")),
    }
}

/// Builds the portable crates for every target.
fn check(repo: &Repo) -> Result<()> {
    setup::ensure(repo, &BARE)?;
    let crates = Crates::read(repo)?;
    let mut cargo = target::cargo("build", &[&target::X86_64, &target::AARCH64, &target::RISCV64])?;
    cargo
        .current_dir(repo.root())
        .arg("--target-dir")
        .arg(repo.target("bare"));
    for package in PORTABLE {
        if crates.get(package).is_some() {
            cargo.args(["-p", package]);
        }
    }
    process::run(&mut cargo)
}

/// Builds the kernel and has its own script boot it.
fn boot(repo: &Repo) -> Result<()> {
    setup::ensure(repo, &[BARE[0], QEMU])?;
    guests::run(repo, &[])?;
    let mut cargo = target::cargo("build", &[&target::X86_64])?;
    cargo.current_dir(repo.root()).args(["--release", "-p", KERNEL]);
    cargo.arg("--target-dir").arg(repo.target("bare"));
    process::run(&mut cargo)?;
    let kernel = repo.target("bare/x86_64-unknown-none/release").join(KERNEL);
    let mut script = process::command(repo.path("platforms/x86_64/boot"));
    process::run(crate::programs::with_programs(repo, script.arg(kernel)).current_dir(repo.root()))
}
