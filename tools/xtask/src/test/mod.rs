//! `./x test`: runs the steps of `steps.rs`, each in its turn, and says how many tests passed.
//!
//! A step whose inputs have not changed since it last passed is not run again (`cache.rs`). The last line of
//! the output is always `N passed, N failed`, the sum over all steps, remembered ones included.

mod cache;
mod count;
mod steps;

use crate::crates::Crates;
use crate::failure::{About, Failure, Result};
use crate::process::logged;
use crate::repo::Repo;
use crate::ui::{Colour, Progress, duration, paint};
use crate::{build, programs, setup};
use cache::Cache;
use count::Count;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};
use steps::Step;

pub use steps::STEPS;

/// What the command line asked for.
#[derive(Debug, Default, PartialEq)]
struct Request {
    names: Vec<String>,
    no_cache: bool,
    verbose: bool,
    list: bool,
}

/// What came of a step.
struct Outcome {
    step: &'static Step,
    count: Count,
    time: Duration,
    note: &'static str,
}

/// `./x test [STEP]... [--no-cache] [--verbose] [--list]`
pub fn run(repo: &Repo, arguments: &[String]) -> Result<()> {
    let request = parse(arguments)?;
    if request.list {
        STEPS
            .iter()
            .for_each(|step| println!("  {:<10} {}", step.name, step.proves));
        return Ok(());
    }
    let mut runner = Runner::new(repo, request)?;
    let mut outcomes = Vec::new();
    for step in STEPS {
        if runner.wants(step) {
            outcomes.push(runner.step(step)?);
        }
    }
    let total = outcomes
        .iter()
        .fold(Count::default(), |sum, outcome| sum + outcome.count);
    summary(&outcomes);
    println!("{} passed, {} failed", total.passed, total.failed);
    if total.failed > 0 {
        Err(Failure::child(1))
    } else {
        Ok(())
    }
}

fn parse(arguments: &[String]) -> Result<Request> {
    let mut request = Request::default();
    for word in arguments {
        match word.as_str() {
            "--no-cache" => request.no_cache = true,
            "--verbose" => request.verbose = true,
            "--list" => request.list = true,
            name if STEPS.iter().any(|step| step.name == name) => request.names.push(name.to_string()),
            name => {
                let known: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
                let known = known.join(", ");
                return Err(Failure::usage(format!(
                    "there is no test step '{name}'; there are: {known}"
                )));
            }
        }
    }
    Ok(request)
}

struct Runner<'a> {
    repo: &'a Repo,
    crates: Crates,
    request: Request,
    cache: Cache,
    /// Whether the programs and guests have been built, once a step has asked.
    built: Option<bool>,
}

impl<'a> Runner<'a> {
    fn new(repo: &'a Repo, request: Request) -> Result<Runner<'a>> {
        let folder = repo.target("x/logs");
        fs::create_dir_all(&folder).about(folder.display())?;
        let (crates, cache) = (Crates::read(repo)?, Cache::new(repo)?);
        Ok(Runner {
            repo,
            crates,
            request,
            cache,
            built: None,
        })
    }

    fn wants(&self, step: &Step) -> bool {
        self.request.names.is_empty() || self.request.names.iter().any(|name| name == step.name)
    }

    fn step(&mut self, step: &'static Step) -> Result<Outcome> {
        let commands = (step.commands)(self.repo, &self.crates)?;
        let outcome = |count, time, note| {
            Ok(Outcome {
                step,
                count,
                time,
                note,
            })
        };
        if commands.is_empty() {
            return outcome(Count::default(), Duration::ZERO, "nothing to test");
        }
        let key = self.cache.key(self.repo, &self.crates, step, &commands)?;
        if let Some(count) = key.as_ref().and_then(|key| self.cache.recall(step.name, key))
            && !self.request.no_cache
        {
            println!(
                "  {:<28} {:>12}  {}",
                step.name,
                "",
                paint(Colour::Dim, "unchanged since it passed")
            );
            return outcome(count, Duration::ZERO, "unchanged");
        }
        if let Err(failure) = self.prepare(step) {
            failure.print();
            return outcome(Count { passed: 0, failed: 1 }, Duration::ZERO, "not run");
        }
        let (count, time) = self.execute(step, commands)?;
        match key {
            Some(key) if count.failed == 0 => self.cache.remember(step.name, &key, count)?,
            _ => {}
        }
        outcome(count, time, "")
    }

    /// Sets up what the step needs, and builds the programs it drives.
    fn prepare(&mut self, step: &Step) -> Result<()> {
        setup::ensure(self.repo, step.needs)?;
        if !step.programs {
            return Ok(());
        }
        if self.built.is_none() {
            let started = Instant::now();
            let result = build::all(self.repo);
            println!("  {:<28} {:>12}", "build", duration(started.elapsed()));
            self.built = Some(result.is_ok());
            result?;
        }
        match self.built {
            Some(true) => Ok(()),
            _ => Err(Failure::new(format!(
                "{}: the programs it drives could not be built",
                step.name
            ))),
        }
    }

    fn execute(&self, step: &Step, commands: Vec<Command>) -> Result<(Count, Duration)> {
        let path = self.log_path(step);
        let mut log = File::create(&path).about(path.display())?;
        let mut progress = Progress::start(step.name);
        let limit = Duration::from_secs(60 * u64::from(step.minutes));
        let mut total = Count::default();
        let mut failures = String::new();
        for mut command in commands {
            programs::with_programs(self.repo, &mut command);
            if step.programs {
                command.env(programs::INSIST.0, programs::INSIST.1);
            }
            let done = logged(&mut command, &mut log, &mut progress, limit)?;
            total = total + Count::of(&done);
            if !done.success {
                failures += &done.text;
            }
            if self.request.verbose {
                print!("{}", done.text);
            }
        }
        let colour = if total.failed == 0 {
            Colour::Green
        } else {
            Colour::Red
        };
        let time = progress.finish(colour, &total.describe());
        if !failures.is_empty() {
            println!(
                "{}\n  the whole log: {}",
                count::essence(&failures),
                path.display()
            );
        }
        Ok((total, time))
    }

    fn log_path(&self, step: &Step) -> PathBuf {
        self.repo.target(format!("x/logs/{}.log", step.name))
    }
}

fn summary(outcomes: &[Outcome]) {
    println!();
    println!(
        "{}",
        paint(Colour::Bold, "  step        passed  failed          time")
    );
    for Outcome {
        step,
        count,
        time,
        note,
    } in outcomes
    {
        let row = format!(
            "  {:<10} {:>7} {:>7} {:>13}  {note}",
            step.name,
            count.passed,
            count.failed,
            if time.is_zero() {
                "-".to_string()
            } else {
                duration(*time)
            }
        );
        println!(
            "{}",
            if count.failed > 0 {
                paint(Colour::Red, &row)
            } else {
                row
            }
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_does_not_exist_is_refused_by_name() {
        let failure = parse(&["hosst".to_string()]).expect_err("there is no such step");
        assert!(failure.message().contains("hosst") && failure.message().contains("tidy"));
    }

    #[test]
    fn steps_have_names_of_their_own() {
        let mut names: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), STEPS.len());
    }
}
