//! The table of test steps. To add one, add a row: a name, what it proves, what must be set up, what its
//! result depends on, and the commands to run.
//!
//! `commands` returns none while there is nothing to test. A command may be cargo, or `./x` itself.

use crate::build::{COMPILER, COMPILER_PROFILE, cargo};
use crate::crates::Crates;
use crate::failure::Result;
use crate::repo::Repo;
use crate::setup::{BARE, CPP, CURL, Need, QEMU, WASM};
use crate::{bare, fuzz, loom, process};
use std::collections::BTreeSet;
use std::process::Command;

/// One step of `./x test`.
pub struct Step {
    /// Its name on the command line.
    pub name: &'static str,
    /// What a pass means, in one line.
    pub proves: &'static str,
    /// What must be set up.
    pub needs: &'static [Need],
    /// Whether it drives the built programs and guests, found through `SATRAP_BIN_DIR` and `SATRAP_GUESTS`. They
    /// are built for it, and `SATRAP_E2E=1` tells its tests to fail where one is missing.
    pub programs: bool,
    /// What its result depends on.
    pub inputs: Inputs,
    /// A command that takes longer is ended.
    pub minutes: u32,
    /// What to run; nothing when there is nothing to test.
    pub commands: fn(&Repo, &Crates) -> Result<Vec<Command>>,
}

/// What a step's result depends on.
pub enum Inputs {
    /// Every file but prose.
    Everything,
    /// These packages and all they depend on.
    Packages(&'static [&'static str]),
    /// The packages found by this function and all they depend on.
    Found(fn(&Repo) -> Result<Vec<String>>),
    /// More than can be told: it runs every time.
    Unbounded,
}

/// Every step, in the order they run: what is quick and fails often comes first.
pub const STEPS: &[Step] = &[
    Step {
        name: "tidy",
        proves: "the repository keeps its own rules",
        needs: &[],
        programs: false,
        inputs: Inputs::Unbounded,
        minutes: 1,
        commands: |_, _| Ok(vec![x(&["tidy"])?]),
    },
    Step {
        name: "host",
        proves: "unit, property and conformance tests of all host crates",
        needs: &[WASM],
        programs: true,
        inputs: Inputs::Everything,
        minutes: 45,
        commands: host,
    },
    Step {
        name: "doc",
        proves: "the examples in the documentation compile and run",
        needs: &[],
        programs: false,
        inputs: Inputs::Everything,
        minutes: 45,
        commands: |repo, crates| Ok(vec![with(tests(repo, crates), &["--doc"])]),
    },
    Step {
        name: "compiler",
        proves: "Wasm becomes artifacts that satellites take, and bad Wasm is refused",
        needs: &[WASM],
        programs: true,
        inputs: Inputs::Everything,
        minutes: 45,
        commands: compiler,
    },
    Step {
        name: "loom",
        proves: "rings, wake-ups and queues hold under every interleaving",
        needs: &[],
        programs: false,
        inputs: Inputs::Found(loom::packages),
        minutes: 30,
        commands: |repo, _| loom::commands(repo, &[]),
    },
    Step {
        name: "sim",
        proves: "1,000 seeds of crashes and lost doorbells break no promise",
        needs: &[],
        programs: false,
        inputs: Inputs::Packages(&["satrap-sim"]),
        minutes: 30,
        commands: sim,
    },
    Step {
        name: "fuzz",
        proves: "no decoder falls over garbage, 10 s each",
        needs: &[CPP],
        programs: false,
        inputs: Inputs::Packages(&[fuzz::PACKAGE]),
        minutes: 45,
        commands: fuzzing,
    },
    Step {
        name: "bare",
        proves: "kernel and engine build for three bare-metal targets",
        needs: &BARE,
        programs: false,
        inputs: Inputs::Packages(&bare::PORTABLE),
        minutes: 45,
        commands: |_, _| Ok(vec![x(&["bare", "check"])?]),
    },
    Step {
        name: "boot",
        proves: "a bare-metal x86-64 kernel runs a process in QEMU",
        needs: &[BARE[0], QEMU],
        programs: true,
        inputs: Inputs::Everything,
        minutes: 20,
        commands: |repo, _| {
            if repo.has("platforms/x86_64/boot") {
                Ok(vec![x(&["bare", "boot"])?])
            } else {
                Ok(vec![])
            }
        },
    },
    Step {
        name: "e2e",
        proves: "the real programs do what their users expect",
        needs: &[CURL],
        programs: true,
        inputs: Inputs::Everything,
        minutes: 30,
        commands: end_to_end,
    },
];

/// Tests of the host crates, with the same features in every step, so that no step compiles them anew.
fn tests(repo: &Repo, crates: &Crates) -> Command {
    let mut command = with(cargo(repo, "test"), &["--no-fail-fast"]);
    command.args(crates.test_features());
    command
}

/// Tests in files `tests/e2e*.rs` drive the real programs, and have a step of their own.
const END_TO_END: &str = "e2e";

fn host(repo: &Repo, crates: &Crates) -> Result<Vec<Command>> {
    let mut command = with(tests(repo, crates), &["--lib", "--bins"]);
    for test in integration_tests(repo, crates)? {
        if !test.starts_with(END_TO_END) {
            command.args(["--test", &test]);
        }
    }
    Ok(vec![command])
}

fn end_to_end(repo: &Repo, crates: &Crates) -> Result<Vec<Command>> {
    let mut command = tests(repo, crates);
    let tests: Vec<String> = integration_tests(repo, crates)?
        .into_iter()
        .filter(|test| test.starts_with(END_TO_END))
        .collect();
    for test in &tests {
        command.args(["--test", test]);
    }
    Ok(if tests.is_empty() { vec![] } else { vec![command] })
}

fn compiler(repo: &Repo, crates: &Crates) -> Result<Vec<Command>> {
    let flags = ["--no-fail-fast", "--profile", COMPILER_PROFILE, "-p", COMPILER];
    Ok(if crates.get(COMPILER).is_some() {
        vec![with(cargo(repo, "test"), &flags)]
    } else {
        vec![]
    })
}

fn sim(repo: &Repo, crates: &Crates) -> Result<Vec<Command>> {
    let runs = match crates.get("satrap-sim") {
        Some(sim) => !sim.programs(repo)?.is_empty(),
        None => false,
    };
    Ok(if runs {
        vec![x(&["sim", "--seeds", "1000"])?]
    } else {
        vec![]
    })
}

fn fuzzing(repo: &Repo, _: &Crates) -> Result<Vec<Command>> {
    fuzz::targets(repo)?
        .iter()
        .map(|target| x(&["fuzz", target, "--seconds", "10"]))
        .collect()
}

/// The names of the files `tests/NAME.rs` and `tests/NAME/main.rs` of all host crates.
fn integration_tests(repo: &Repo, crates: &Crates) -> Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for each in crates.host() {
        let folder = format!("{}/tests", each.folder);
        for file in repo.files(&folder)? {
            let Ok(rest) = file.strip_prefix(&folder) else {
                continue;
            };
            let rest = rest.to_string_lossy();
            let name = rest.strip_suffix("/main.rs").or_else(|| rest.strip_suffix(".rs"));
            names.extend(name.filter(|name| !name.contains('/')).map(str::to_string));
        }
    }
    Ok(names)
}

/// A command of `./x` itself.
fn x(arguments: &[&str]) -> Result<Command> {
    use crate::failure::About;
    let program = std::env::current_exe().about("this program")?;
    Ok(with(process::command(program), arguments))
}

fn with(mut command: Command, arguments: &[&str]) -> Command {
    command.args(arguments);
    command
}
