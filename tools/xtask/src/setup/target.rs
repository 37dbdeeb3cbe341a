//! The ways to compile for a target other than this machine (DESIGN §16), tried in this order: it is
//! installed in the active toolchain; Debian's `-web` compiler with `-Zbuild-std`; `rustup target add`.
//!
//! `SATRAP_TOOLCHAIN` forces one. Continuous integration forces Debian's, the way that needs only its mirror.

use super::apt;
use crate::failure::{About, Failure, Result};
use crate::process;
use crate::repo::Repo;
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

/// A target that code is compiled for.
#[derive(PartialEq, Eq)]
pub struct Target {
    /// Rust's name for it.
    pub triple: &'static str,
    /// What is compiled for it.
    pub why: &'static str,
    /// The parts of the standard library to build where there is no ready one.
    std: &'static str,
    /// The linker where Debian's `rust-lld` is absent.
    linker: &'static str,
}

/// Programs for satellites.
pub const WASM: Target = Target {
    triple: "wasm32-unknown-unknown",
    why: "programs for satellites are compiled to it",
    std: "-Zbuild-std=std,panic_abort",
    linker: "wasm-ld",
};
/// Bare x86-64.
pub const X86_64: Target = bare("x86_64-unknown-none");
/// Bare aarch64.
pub const AARCH64: Target = bare("aarch64-unknown-none");
/// Bare riscv64.
pub const RISCV64: Target = bare("riscv64gc-unknown-none-elf");

const fn bare(triple: &'static str) -> Target {
    Target {
        triple,
        why: "bare-metal kernels are compiled to it",
        std: "-Zbuild-std=core,alloc",
        linker: "ld.lld",
    }
}

/// How to compile for a target on this machine.
#[derive(Clone, Copy)]
pub enum Way {
    /// The active toolchain has the target's standard library.
    Active,
    /// Debian's compiler builds the standard library; it may need to be told its linker.
    Debian { linker: Option<&'static str> },
}

impl Way {
    /// The way in words.
    pub fn describe(self) -> String {
        match self {
            Way::Active => "installed in the active toolchain".to_string(),
            Way::Debian { linker } => {
                let version =
                    debian_version().map_or_else(String::new, |(major, minor)| format!(" {major}.{minor}"));
                format!(
                    "Debian's rustc{version} with -Zbuild-std, linker {}",
                    linker.unwrap_or("rust-lld")
                )
            }
        }
    }
}

/// The oldest compiler that compiles this repository.
const OLDEST: (u32, u32) = (1, 95);
const DEBIAN_RUSTC: &str = "/usr/bin/rustc";
const DEBIAN_CARGO: &str = "/usr/bin/cargo";
const DEBIAN_LLD: &str = "/usr/bin/rust-lld";
const DEBIAN_SOURCE: &str = "/usr/lib/rustlib/src/rust/library/Cargo.lock";
/// `rustup target add` has been seen to hang without a network.
const RUSTUP_LIMIT: Duration = Duration::from_secs(180);

#[derive(Clone, Copy, PartialEq)]
enum Policy {
    Auto,
    Debian,
    Rustup,
}

fn policy() -> Result<Policy> {
    match std::env::var("SATRAP_TOOLCHAIN").as_deref() {
        Err(_) | Ok("" | "auto") => Ok(Policy::Auto),
        Ok("debian") => Ok(Policy::Debian),
        Ok("rustup") => Ok(Policy::Rustup),
        Ok(other) => Err(Failure::usage(format!(
            "SATRAP_TOOLCHAIN={other}: expected auto, debian or rustup"
        ))),
    }
}

/// The way to compile for `target`, when there is one already.
pub fn way(target: &Target) -> Option<Way> {
    let policy = policy().ok()?;
    if policy != Policy::Debian && active_has(target.triple) {
        return Some(Way::Active);
    }
    if policy != Policy::Rustup {
        debian(target)
    } else {
        None
    }
}

/// A cargo that compiles for `targets`, with the subcommand and all flags that the way asks for.
pub fn cargo(subcommand: &str, targets: &[&Target]) -> Result<Command> {
    let ways: Vec<Way> = targets.iter().filter_map(|target| way(target)).collect();
    if ways.len() < targets.len() {
        policy()?;
        return Err(Failure::new("a target is missing; run ./x setup"));
    }
    let active = ways.iter().all(|way| matches!(way, Way::Active));
    let mut cargo = process::command(if active { "cargo" } else { DEBIAN_CARGO });
    cargo.arg(subcommand);
    for target in targets {
        cargo.args(["--target", target.triple]);
        // Targets of one command share one compiler: where Debian's is needed for one, it serves all.
        let Some(Way::Debian { linker }) = (!active).then(|| debian(target)).flatten() else {
            continue;
        };
        cargo.arg(target.std);
        if let Some(linker) = linker {
            let triple = target.triple.replace('-', "_").to_uppercase();
            cargo.env(format!("CARGO_TARGET_{triple}_LINKER"), linker);
        }
    }
    if !active {
        cargo
            .env("RUSTC", DEBIAN_RUSTC)
            .env("RUSTC_BOOTSTRAP", "1")
            .env_remove("RUSTUP_TOOLCHAIN");
    }
    Ok(cargo)
}

/// Makes a way, and says what it does.
pub fn install(repo: &Repo, target: &Target) -> Result<()> {
    let policy = policy()?;
    let mut reasons = Vec::new();
    if policy != Policy::Rustup && apt::exists() {
        match install_debian(repo) {
            Ok(()) => return Ok(()),
            Err(failure) => reasons.push(failure.message().to_string()),
        }
    }
    if policy != Policy::Debian {
        match install_rustup(repo, target) {
            Ok(()) => return Ok(()),
            Err(failure) => reasons.push(failure.message().to_string()),
        }
    }
    Err(Failure::new(format!(
        "no way to compile for {}:\n  {}",
        target.triple,
        reasons.join("\n  ")
    )))
}

fn active_has(triple: &str) -> bool {
    static SYSROOT: OnceLock<Option<String>> = OnceLock::new();
    let sysroot =
        SYSROOT.get_or_init(|| process::output(process::command("rustc").args(["--print", "sysroot"])));
    let Some(sysroot) = sysroot else { return false };
    let Ok(entries) = fs::read_dir(Path::new(sysroot).join("lib/rustlib").join(triple).join("lib")) else {
        return false;
    };
    entries
        .flatten()
        .any(|entry| entry.file_name().to_string_lossy().starts_with("libcore-"))
}

fn debian(target: &Target) -> Option<Way> {
    let ready = Path::new(DEBIAN_CARGO).exists() && Path::new(DEBIAN_SOURCE).exists();
    if !ready || debian_version()? < OLDEST {
        return None;
    }
    // The link `rust-lld` may dangle: its package only recommends the linker. `exists` follows it.
    if Path::new(DEBIAN_LLD).exists() {
        return Some(Way::Debian { linker: None });
    }
    process::find(target.linker).map(|_| Way::Debian {
        linker: Some(target.linker),
    })
}

fn debian_version() -> Option<(u32, u32)> {
    // Only one that will do is remembered: an installation may replace any other.
    static VERSION: OnceLock<(u32, u32)> = OnceLock::new();
    if let Some(known) = VERSION.get() {
        return Some(*known);
    }
    let found = version(&process::output(process::command(DEBIAN_RUSTC).arg("--version"))?)?;
    Some(if found >= OLDEST {
        *VERSION.get_or_init(|| found)
    } else {
        found
    })
}

fn version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.split_whitespace().nth(1)?.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

fn install_debian(repo: &Repo) -> Result<()> {
    apt::install(repo, &["rustc-web", "cargo-web", "rust-web-src", "rust-web-llvm"])?;
    match debian_version() {
        Some(found) if found >= OLDEST => {}
        found => {
            let found = found.map_or("none".to_string(), |(major, minor)| format!("{major}.{minor}"));
            return Err(Failure::new(format!(
                "Debian's rustc is {found}, and {}.{} is needed; is its security archive in the apt sources?",
                OLDEST.0, OLDEST.1
            )));
        }
    }
    if Path::new(DEBIAN_LLD).exists() || process::find("wasm-ld").is_some() {
        return Ok(());
    }
    // `rust-lld` is a link to the linker of the LLVM that rustc is built with, named after its package.
    let matching = fs::read_link(DEBIAN_LLD).ok();
    let matching = matching.as_deref().and_then(Path::to_str).unwrap_or("lld");
    apt::install(repo, &[matching]).or_else(|_| apt::install(repo, &["lld"]))
}

fn install_rustup(repo: &Repo, target: &Target) -> Result<()> {
    let Some(rustup) = process::find("rustup") else {
        return Err(Failure::new("rustup is not installed"));
    };
    fs::create_dir_all(repo.target("x")).about("target/x")?;
    let path = repo.target("x/rustup.log");
    let mut log = File::create(&path).about(path.display())?;
    let mut progress = crate::ui::Progress::start(&format!("rustup target add {}", target.triple));
    let mut command = process::command(rustup);
    command.args(["target", "add", target.triple]);
    let done = process::logged(&mut command, &mut log, &mut progress, RUSTUP_LIMIT)?;
    if done.success {
        progress.finish(crate::ui::Colour::Green, "installed");
        return Ok(());
    }
    progress.finish(crate::ui::Colour::Red, "failed");
    Err(Failure::new(format!(
        "rustup target add {} failed: {}",
        target.triple,
        path.display()
    )))
}

#[cfg(test)]
mod tests {
    use super::version;

    #[test]
    fn a_compiler_version_is_read() {
        assert_eq!(
            version("rustc 1.96.0 (ac68faa20 2026-05-25) (built from a source tarball)"),
            Some((1, 96))
        );
        assert_eq!(version("garbage"), None);
    }
}
