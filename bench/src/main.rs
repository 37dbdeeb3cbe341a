//! `satrap-bench`: every figure of Satrap beside its baseline, measured in turns in the same run.
//!
//! Start reading at `benches/mod.rs`. `sample` measures, `system` runs guests on satellites, `baseline` is what
//! they are compared with, `figure` judges, `report` prints. A missed goal is a figure like any other: the
//! program ends with 0 unless a bench could not be made at all.

#![forbid(unsafe_code)]

mod baseline;
mod benches;
mod failure;
mod figure;
mod lab;
mod options;
mod pin;
mod programs;
mod report;
mod sample;
mod second;
mod system;

use benches::{ALL, Bench, Outcome};
use failure::{About, Failure, Result};
use lab::Lab;
use options::Options;
use std::io::{Write, stdout};
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.split_first() {
        Some((first, rest)) if first == second::OPTION => second::play(rest),
        _ => measure(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn measure(arguments: &[String]) -> Result<()> {
    let options = Options::parse(arguments)?;
    if options.help {
        return print(&options::help());
    }
    let lab = Lab::new(options.quick)?;
    let wanted: Vec<&Bench> = ALL.iter().filter(|bench| options.wants(bench)).collect();
    let (mut outcomes, mut failed) = (Vec::new(), Vec::new());
    for (number, bench) in wanted.iter().enumerate() {
        eprint!(
            "[{:>2}/{}] {:<14}{:<56}",
            number + 1,
            wanted.len(),
            bench.name,
            bench.summary
        );
        let begin = Instant::now();
        match (bench.run)(&lab) {
            Ok(outcome) => {
                eprintln!("{:>5.1} s", begin.elapsed().as_secs_f64());
                if options.json {
                    print(&json(&outcome)?)?;
                }
                outcomes.push(outcome);
            }
            Err(failure) => {
                eprintln!("failed\n        {failure}");
                failed.push(bench.name);
            }
        }
    }
    if !options.json {
        print(&format!(
            "\n{}\n{}",
            report::table(&outcomes),
            report::verdict(&outcomes)
        ))?;
    }
    match failed[..] {
        [] => Ok(()),
        _ => Err(Failure::new(format!("not measured: {}", failed.join(", ")))),
    }
}

fn json(outcome: &Outcome) -> Result<String> {
    let lines = outcome.figures.iter().map(|figure| {
        serde_json::to_string(figure)
            .map(|line| line + "\n")
            .about("writing JSON")
    });
    lines.collect()
}

fn print(text: &str) -> Result<()> {
    let mut out = stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .about("printing")
}
