//! Finds or installs what a command needs, says what it does, and is quick and silent when all is there.
//!
//! A command states its needs as `Need`s, each with the reason that a user sees. `apt.rs` installs
//! packages, `target.rs` knows the ways to compile for another target (DESIGN §16).

mod apt;
pub mod target;

use crate::failure::{Failure, Result};
use crate::process;
use crate::repo::Repo;
use crate::ui::{Colour, paint};
use target::Target;

/// Something outside the repository that a command cannot do without.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Code is compiled for this target.
    Target(&'static Target),
    /// This program is run.
    Tool(&'static Tool),
}

/// A program that Debian has a package for.
#[derive(PartialEq, Eq)]
pub struct Tool {
    /// Its name on the `PATH`.
    program: &'static str,
    /// Debian's package.
    package: &'static str,
    /// What it is for.
    why: &'static str,
}

/// Feeds the PNG service.
pub const CURL: Need = Need::Tool(&Tool {
    program: "curl",
    package: "curl",
    why: "the demo and the end-to-end tests upload with it",
});
/// Boots the bare-metal kernel.
pub const QEMU: Need = Need::Tool(&Tool {
    program: "qemu-system-x86_64",
    package: "qemu-system-x86",
    why: "the bare-metal test boots a kernel in it",
});
/// Counts instructions.
pub const VALGRIND: Need = Need::Tool(&Tool {
    program: "valgrind",
    package: "valgrind",
    why: "the benches count instructions with it",
});
/// Compiles libFuzzer.
pub const CPP: Need = Need::Tool(&Tool {
    program: "c++",
    package: "g++",
    why: "the fuzz targets are linked with libFuzzer, which is C++",
});
/// Guests.
pub const WASM: Need = Need::Target(&target::WASM);
/// Bare-metal kernels.
pub const BARE: [Need; 3] = [
    Need::Target(&target::X86_64),
    Need::Target(&target::AARCH64),
    Need::Target(&target::RISCV64),
];

/// `./x setup`: everything that any command needs; `--check` installs nothing.
pub fn run(repo: &Repo, arguments: &[String]) -> Result<()> {
    let check = match arguments {
        [] => false,
        [flag] if flag == "--check" => true,
        _ => return Err(Failure::usage("usage: ./x setup [--check]")),
    };
    let all = [WASM, BARE[0], BARE[1], BARE[2], CURL, QEMU, VALGRIND, CPP];
    if !check {
        ensure(repo, &all)?;
    }
    let mut missing = 0;
    for need in all {
        let (name, found) = (need.name(), need.found());
        missing += u32::from(found.is_none());
        let found = found.unwrap_or_else(|| paint(Colour::Red, &format!("missing: {}", need.why())));
        println!("  {name:<28} {found}");
    }
    if missing > 0 {
        Err(Failure::new(format!(
            "{missing} missing; ./x setup installs them"
        )))
    } else {
        Ok(())
    }
}

/// Sees to it that every one of `needs` is there.
pub fn ensure(repo: &Repo, needs: &[Need]) -> Result<()> {
    let missing: Vec<Need> = needs
        .iter()
        .copied()
        .filter(|need| need.found().is_none())
        .collect();
    for need in missing {
        // A target's packages serve the other targets too, so it may be there by now.
        if need.found().is_some() {
            continue;
        }
        println!("  {:<28} missing: {}", need.name(), need.why());
        match need {
            Need::Tool(tool) => apt::install(repo, &[tool.package])?,
            Need::Target(target) => target::install(repo, target)?,
        }
        if need.found().is_none() {
            return Err(Failure::new(format!(
                "{} is still missing after its installation",
                need.name()
            )));
        }
    }
    Ok(())
}

impl Need {
    fn name(self) -> &'static str {
        match self {
            Need::Target(target) => target.triple,
            Need::Tool(tool) => tool.program,
        }
    }

    fn why(self) -> &'static str {
        match self {
            Need::Target(target) => target.why,
            Need::Tool(tool) => tool.why,
        }
    }

    /// Where it was found, in words.
    fn found(self) -> Option<String> {
        match self {
            Need::Target(target) => target::way(target).map(|way| way.describe()),
            Need::Tool(tool) => process::find(tool.program).map(|path| path.display().to_string()),
        }
    }
}
