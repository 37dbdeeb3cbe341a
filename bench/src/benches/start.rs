//! How long it takes until something runs: a process, satellites, a whole command.

use super::Outcome;
use crate::baseline::native;
use crate::failure::{About, Failure, Result};
use crate::figure::{Figure, Goal, Subject};
use crate::lab::Lab;
use crate::programs;
use crate::sample::Samples;
use crate::system::{FIRST, Line, System};
use rustix::time::{ClockId, clock_gettime};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Processes started one after the other for one figure.
const SPAWNS: u64 = 20;
/// No first message takes longer.
const MESSAGE_LIMIT: Duration = Duration::from_secs(10);

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

fn figure(
    bench: &'static str,
    case: &str,
    baseline: &str,
    [value, other]: &[Samples; 2],
    goal: f64,
) -> Figure {
    let subject = Subject {
        bench,
        case: case.into(),
        unit: "ms",
        baseline: baseline.into(),
    };
    subject.figure(value, other, Goal::AtMost(goal))
}

/// From the request to start a process to its first message, the program being installed and loaded.
pub fn spawn(lab: &Lab) -> Result<Outcome> {
    let system = lab.on_pair(1)?;
    let spawns = lab.count(SPAWNS);
    let (sender, arrivals) = channel();
    let samples = std::thread::scope(|scope| {
        let system = &system;
        let server = scope.spawn(move || {
            let expected = (lab.samples() * spawns).to_string();
            let program = system.program("bench-first-server");
            system.watch(program, &[&expected], &[], &mut |line| {
                // The other side has failed if it does not listen; it says so itself.
                let _ = sender.send(line);
            })
        });
        let samples = lab.compare([
            Box::new(|| median(spawns, || first_message(system, &arrivals))),
            Box::new(|| median(spawns, || native::first_message(1).map(milliseconds))),
        ]);
        let served = server
            .join()
            .map_err(|_| Failure::new("the server's thread has panicked"))?;
        match (samples, served) {
            (Err(ours), Err(its)) => Err(Failure::new(format!("{ours}; its server: {its}"))),
            (samples, served) => served.and(samples),
        }
    })?;
    Ok(Outcome {
        figures: vec![figure(
            "spawn",
            "to first message",
            "native process to first write",
            &samples,
            1.0,
        )],
        limit: "placing and two messages between coordinator and satellite, each a wake-up across cores; then the \
                instance's memory, its first page faults, and the bind through the namespace"
            .into(),
    })
}

/// Starts one process and returns how long it took until its message came, in ms.
fn first_message(system: &System, arrivals: &Receiver<Line>) -> Result<f64> {
    let now = clock_gettime(ClockId::Monotonic);
    let begin = now.tv_sec as f64 * 1e9 + now.tv_nsec as f64;
    system.run(system.manifest(FIRST), &[], &[])?;
    let line = arrivals
        .recv_timeout(MESSAGE_LIMIT)
        .about("waiting for the first message of a process")?;
    Ok((line.get("arrived_ns")? - begin) / 1e6)
}

fn median(count: u64, mut measure: impl FnMut() -> Result<f64>) -> Result<f64> {
    let mut samples = Samples::default();
    for _ in 0..count {
        samples.push(measure()?);
    }
    Ok(samples.median())
}

/// Two satellites, from nothing to registered.
pub fn up(lab: &Lab) -> Result<Outcome> {
    let samples = lab.compare([
        Box::new(|| Ok(milliseconds(lab.on_pair(2)?.up))),
        Box::new(|| native::first_message(2).map(milliseconds)),
    ])?;
    Ok(Outcome {
        figures: vec![figure(
            "up",
            "two satellites",
            "two native processes to first write",
            &samples,
            50.0,
        )],
        limit: "starting two Linux processes, and in each the mapping of its export and the engine's first set-up; \
                the coordinator waits"
            .into(),
    })
}

/// The whole command, compiled before.
pub fn run(lab: &Lab) -> Result<Outcome> {
    let program = programs::find("satrap")?;
    let socket = std::env::temp_dir().join(format!("satrap-bench-{}/none.sock", std::process::id()));
    let whole = || {
        let begin = Instant::now();
        let output = Command::new(&program)
            .arg("run")
            .arg(lab.guest("hello"))
            .env("SATRAP_SOCKET", &socket)
            .stdin(Stdio::null())
            .output()
            .about(format_args!("running {}", program.display()))?;
        let took = begin.elapsed();
        match output.status.success() && !output.stdout.is_empty() {
            true => Ok(milliseconds(took)),
            false => Err(Failure::new(format!(
                "`satrap run hello.wasm` failed: {}",
                String::from_utf8_lossy(&output.stderr).trim()
            ))),
        }
    };
    let samples = lab.compare([Box::new(whole), Box::new(|| native::whole().map(milliseconds))])?;
    Ok(Outcome {
        figures: vec![figure(
            "run",
            "satrap run hello.wasm",
            "native hello, start to end",
            &samples,
            80.0,
        )],
        limit: "a coordinator and a satellite come up, the artifact is read and loaded, and both go again before the \
                command ends"
            .into(),
    })
}
