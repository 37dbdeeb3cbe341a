//! `satrap-sim`: runs seeds and says which of them break a promise.
//!
//! Worlds are independent, so that several run at once; each is one logical thread.

#![forbid(unsafe_code)]

use satrap_sim::{Outcome, SCENARIOS, Scenario, run};
use std::{
    io::{IsTerminal, Write},
    process::ExitCode,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    thread,
    time::Instant,
};

const USAGE: &str = "\
Runs whole kernels in virtual time, a world for each seed, and checks what must hold.

Usage: satrap-sim [--seeds N] [--start S] [--scenario NAME] [--verbose]

  --seeds N        how many seeds to run (default 100)
  --start S        the first seed (default 1)
  --scenario NAME  what happens in a world (default the first below)
  --verbose        print the trace of each run

Scenarios: ";

struct Options {
    seeds: u64,
    start: u64,
    scenario: Scenario,
    verbose: bool,
}

fn usage() -> String {
    let names: Vec<&str> = SCENARIOS.iter().map(|scenario| scenario.name).collect();
    format!("{USAGE}{}", names.join(", "))
}

fn options(arguments: impl Iterator<Item = String>) -> Result<Option<Options>, String> {
    let mut options = Options {
        seeds: 100,
        start: 1,
        scenario: SCENARIOS[0].clone(),
        verbose: false,
    };
    let mut arguments = arguments;
    while let Some(option) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{option} needs a value"));
        let number = |text: String| text.parse().map_err(|_| format!("{option}: {text} is no number"));
        match option.as_str() {
            "--seeds" => options.seeds = number(value()?)?,
            "--start" => options.start = number(value()?)?,
            "--scenario" => {
                let name = value()?;
                options.scenario = Scenario::named(&name).ok_or(format!("no scenario {name}"))?;
            }
            "--verbose" => options.verbose = true,
            "--help" | "-h" => return Ok(None),
            _ => return Err(format!("unknown option {option}")),
        }
    }
    Ok(Some(options))
}

/// What all runs together came to.
#[derive(Default)]
struct Tally {
    done: AtomicU64,
    turns: AtomicU64,
    failures: AtomicU64,
    stop: AtomicBool,
    output: Mutex<()>,
}

impl Tally {
    fn count(&self, options: &Options, seed: u64, outcome: &Outcome) {
        let done = self.done.fetch_add(1, Relaxed) + 1;
        self.turns.fetch_add(outcome.turns as u64, Relaxed);
        let _output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        if outcome.failure.is_some() {
            // Ten failures tell as much as a thousand.
            self.stop
                .fetch_or(self.failures.fetch_add(1, Relaxed) >= 9, Relaxed);
            report(options, seed, outcome);
        }
        if std::io::stderr().is_terminal() && !options.verbose {
            eprint!("\r{done} of {} seeds", options.seeds);
            let _ = std::io::stderr().flush();
        }
    }
}

fn report(options: &Options, seed: u64, outcome: &Outcome) {
    let Some(failure) = &outcome.failure else { return };
    println!("seed {seed}: {}: {}", failure.checker, failure.what);
    for line in &failure.tail {
        println!("    {line}");
    }
    println!("  again with: {}", repetition(options, seed));
}

fn repetition(options: &Options, seed: u64) -> String {
    let name = options.scenario.name;
    format!("./x sim --seeds 1 --start {seed} --scenario {name} --verbose")
}

/// Says which seeds run, should a kernel panic: the release build ends with the first panic.
fn name_seeds_of_panics(running: &'static Mutex<Vec<u64>>, scenario: &'static str) {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        usual(info);
        let seeds = running.try_lock().map(|seeds| seeds.clone()).unwrap_or_default();
        eprintln!("scenario {scenario}, one of the seeds {seeds:?}");
    }));
}

static RUNNING: Mutex<Vec<u64>> = Mutex::new(Vec::new());

fn with_running<T>(act: impl FnOnce(&mut Vec<u64>) -> T) -> T {
    act(&mut RUNNING.lock().unwrap_or_else(PoisonError::into_inner))
}

fn run_all(options: &Options, tally: &Tally) {
    let next = AtomicU64::new(0);
    let cores = thread::available_parallelism().map_or(2, usize::from);
    // A world waits for its own threads now and then: two for each core keep it busy.
    let workers = if options.verbose { 1 } else { cores * 2 };
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while !tally.stop.load(Relaxed) {
                    let number = next.fetch_add(1, Relaxed);
                    if number >= options.seeds {
                        break;
                    }
                    let seed = options.start + number;
                    with_running(|seeds| seeds.push(seed));
                    let outcome = run(&options.scenario, seed, options.verbose);
                    with_running(|seeds| seeds.retain(|&other| other != seed));
                    tally.count(options, seed, &outcome);
                }
            });
        }
    });
}

fn main() -> ExitCode {
    let options = match options(std::env::args().skip(1)) {
        Ok(Some(options)) => options,
        Ok(None) => {
            println!("{}", usage());
            return ExitCode::SUCCESS;
        }
        Err(mistake) => {
            eprintln!("{mistake}\n\n{}", usage());
            return ExitCode::from(2);
        }
    };
    name_seeds_of_panics(&RUNNING, options.scenario.name);
    let (start, tally) = (Instant::now(), Tally::default());
    run_all(&options, &tally);
    let (done, failures) = (tally.done.load(Relaxed), tally.failures.load(Relaxed));
    if std::io::stderr().is_terminal() {
        eprintln!();
    }
    let (turns, seconds) = (tally.turns.load(Relaxed), start.elapsed().as_secs_f64());
    println!("{done} seeds, {failures} failures ({turns} turns in {seconds:.1} s)");
    if failures == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
