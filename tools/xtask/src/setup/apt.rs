//! Installs Debian packages, as root or through `sudo -n`, and never removes one.
//!
//! The package lists are fetched at most once, and only after an installation has failed without that.

use crate::failure::{About, Failure, Result};
use crate::process::{self, logged};
use crate::repo::Repo;
use crate::ui::{Colour, Progress};
use std::fs::{self, File};
use std::process::Command;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(900);

/// Whether this machine installs packages with apt.
pub fn exists() -> bool {
    process::find("apt-get").is_some()
}

/// Installs `packages`.
pub fn install(repo: &Repo, packages: &[&str]) -> Result<()> {
    let list = packages.join(" ");
    if !exists() {
        return Err(Failure::new(format!(
            "install {list} (Debian's name for it) with your system's tool"
        )));
    }
    fs::create_dir_all(repo.target("x")).about("target/x")?;
    let path = repo.target("x/apt.log");
    let mut log = File::create(&path).about(path.display())?;
    let mut progress = Progress::start(&format!("installing {list}"));
    let mut attempt = |words: &[&str]| logged(&mut apt(words)?, &mut log, &mut progress, LIMIT);
    let mut words = vec!["install", "--yes", "--no-remove", "--no-install-recommends"];
    words.extend(packages);
    let mut done = attempt(&words)?;
    if !done.success {
        attempt(&["update"])?;
        done = attempt(&words)?;
    }
    if done.success {
        progress.finish(Colour::Green, "installed");
        return Ok(());
    }
    progress.finish(Colour::Red, "failed");
    let last: Vec<&str> = done.text.lines().rev().take(5).collect();
    let last: Vec<&str> = last.into_iter().rev().collect();
    Err(Failure::new(format!(
        "apt-get install {list} failed ({}):\n{}",
        path.display(),
        last.join("\n")
    )))
}

fn apt(words: &[&str]) -> Result<Command> {
    let root = process::output(process::command("id").arg("-u")).as_deref() == Some("0");
    let mut command = if root {
        process::command("env")
    } else {
        process::command("sudo")
    };
    if !root {
        if process::output(process::command("sudo").args(["-n", "true"])).is_none() {
            return Err(Failure::new(
                "installing packages needs root, or sudo without a password",
            ));
        }
        command.args(["-n", "env"]);
    }
    command.args([
        "DEBIAN_FRONTEND=noninteractive",
        "apt-get",
        "-o",
        "DPkg::Lock::Timeout=120",
    ]);
    command.args(words);
    Ok(command)
}
