//! Fuzzing: every `[[bin]]` of `fuzz/Cargo.toml` is a libFuzzer target, named after the decoder it feeds.
//!
//! Stable Rust is enough: the coverage counters that libFuzzer reads are an ordinary pass of LLVM. Inputs
//! that must always be tried lie in `fuzz/seeds/TARGET`; what a run finds is kept below `target/fuzz`.

use crate::crates::Crates;
use crate::failure::{About, Failure, Result};
use crate::process;
use crate::repo::Repo;
use crate::setup::{self, CPP};
use std::fs;
use std::process::Command;

/// The package of the fuzz targets.
pub const PACKAGE: &str = "satrap-fuzz";

/// The coverage that libFuzzer steers by, and the checks that turn a mistake into a crash.
const FLAGS: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cdebug-assertions -Coverflow-checks -Ccodegen-units=1";

/// Longest input, and memory for a run: a decoder that takes more has missed a limit.
const INPUT: &str = "-max_len=65536";
const MEMORY: &str = "-rss_limit_mb=1024";
/// One input may take this long.
const PATIENCE: &str = "-timeout=10";

/// What the command line asked for.
#[derive(Debug, PartialEq)]
struct Request {
    targets: Vec<String>,
    seconds: u32,
    list: bool,
}

/// `./x fuzz [TARGET]... [--seconds N] [--list]`
pub fn run(repo: &Repo, arguments: &[String]) -> Result<()> {
    let request = parse(arguments)?;
    let known = targets(repo)?;
    if request.list {
        known.iter().for_each(|name| println!("{name}"));
        return Ok(());
    }
    if let Some(wrong) = request.targets.iter().find(|name| !known.contains(name)) {
        return Err(Failure::usage(format!(
            "there is no fuzz target '{wrong}'; there are: {}",
            known.join(", ")
        )));
    }
    let chosen = if request.targets.is_empty() {
        known
    } else {
        request.targets
    };
    if chosen.is_empty() {
        return Ok(());
    }
    setup::ensure(repo, &[CPP])?;
    process::run(&mut compile(repo)?)?;
    for target in chosen {
        println!("  fuzz {target}, {} s", request.seconds);
        process::run(&mut start(repo, &target, request.seconds)?)?;
    }
    Ok(())
}

/// The names of all targets.
pub fn targets(repo: &Repo) -> Result<Vec<String>> {
    match Crates::read(repo)?.get(PACKAGE) {
        Some(fuzz) => fuzz.programs(repo),
        None => Ok(Vec::new()),
    }
}

fn parse(arguments: &[String]) -> Result<Request> {
    let mut request = Request {
        targets: Vec::new(),
        seconds: 60,
        list: false,
    };
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--list" => request.list = true,
            "--seconds" => {
                let value = words.next().and_then(|value| value.parse().ok());
                request.seconds = value.ok_or_else(|| Failure::usage("--seconds wants a number"))?;
            }
            name if !name.starts_with('-') => request.targets.push(name.to_string()),
            _ => {
                return Err(Failure::usage(
                    "usage: ./x fuzz [TARGET]... [--seconds N] [--list]",
                ));
            }
        }
    }
    Ok(request)
}

fn compile(repo: &Repo) -> Result<Command> {
    let mut cargo = process::command("cargo");
    // Naming the target keeps the flags away from build scripts, which libFuzzer is not linked to.
    cargo
        .current_dir(repo.root())
        .args(["build", "--release", "-p", PACKAGE, "--target", &host()?]);
    cargo
        .arg("--target-dir")
        .arg(repo.target("fuzz"))
        .env("RUSTFLAGS", FLAGS);
    Ok(cargo)
}

fn start(repo: &Repo, target: &str, seconds: u32) -> Result<Command> {
    let corpus = repo.target("fuzz/corpus").join(target);
    let crashes = repo.target("fuzz/crashes").join(target);
    for folder in [&corpus, &crashes] {
        fs::create_dir_all(folder).about(folder.display())?;
    }
    let mut fuzz = process::command(repo.target("fuzz").join(host()?).join("release").join(target));
    fuzz.arg(format!("-max_total_time={seconds}"))
        .args([INPUT, MEMORY, PATIENCE, "-verbosity=0"]);
    fuzz.arg("-print_final_stats=1")
        .arg(format!("-artifact_prefix={}/", crashes.display()))
        .arg(corpus);
    let seeds = repo.path("fuzz/seeds").join(target);
    if seeds.exists() {
        fuzz.arg(seeds);
    }
    Ok(fuzz)
}

fn host() -> Result<String> {
    process::output(process::command("rustc").args(["--print", "host-tuple"]))
        .ok_or_else(|| Failure::new("rustc does not say which machine this is"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_and_time_come_from_the_command_line() {
        let words = |text: &str| text.split_whitespace().map(str::to_string).collect::<Vec<_>>();
        let request = parse(&words("manifest --seconds 5 table")).expect("parse");
        assert_eq!(
            request,
            Request {
                targets: words("manifest table"),
                seconds: 5,
                list: false
            }
        );
        assert_eq!(
            parse(&words("--seconds x")).map_err(|failure| failure.code()),
            Err(2)
        );
    }
}
