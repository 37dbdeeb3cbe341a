//! `satrap-demo [FOLDER] [--seconds N]`: the PNG service of Helios §4.4.1 on two satellites, fed with PNGs by HTTP; then the
//! same with one affinity changed.

#![forbid(unsafe_code)]

use png_generate::{File, Options};
use satrap_coordinator::api::{Event, Kernel};
use satrap_demo::{
    figures::{self, Channels, Counters},
    interrupt::{INTERRUPTED, Interrupt},
    load::{self, Outcome, Task},
    screen::{self, Screen},
    service::{Failure, Machine, Placed},
};
use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

const HELP: &str = "\
The PNG service on two satellites, under load, placed in two ways.

Usage: satrap-demo [FOLDER] [--seconds N]

FOLDER holds the PNGs to upload; without it, varied ones are made.
Each of the two placements is under load for N seconds, 8 if not said.
";

const SATELLITES: usize = 2;
/// Clients that upload at the same time.
const CLIENTS: usize = 4;
/// How long each of the two runs is under load, in s.
const SECONDS: u64 = 8;
/// The longest that makes sense, in s.
const SECONDS_MAX: u64 = 3600;
/// Pictures that are made: each of the fifteen formats, plain and interlaced.
const PICTURES: usize = 30;

/// The manifest keeps the front end away from the decoder, and near the store.
const MANIFEST: &str = "front.decoder=-1";
/// Now it wants to be with the decoder, and that more than with the store (1).
const CHANGED: &str = "front.decoder=2";

/// What the user wants to see.
struct Request {
    folder: Option<PathBuf>,
    /// How long each placement is under load.
    time: Duration,
}

impl Request {
    /// `None` if the arguments are no request.
    fn parse(mut arguments: impl Iterator<Item = String>) -> Option<Request> {
        let mut request = Request {
            folder: None,
            time: Duration::from_secs(SECONDS),
        };
        while let Some(argument) = arguments.next() {
            if argument == "--seconds" {
                let seconds = arguments.next()?.parse().ok()?;
                request.time = (1..=SECONDS_MAX)
                    .contains(&seconds)
                    .then(|| Duration::from_secs(seconds))?;
            } else if argument.starts_with('-') || request.folder.is_some() {
                return None;
            } else {
                request.folder = Some(PathBuf::from(argument));
            }
        }
        Some(request)
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if matches!(arguments.as_slice(), [one] if one == "--help" || one == "-h") {
        print!("{HELP}");
        return ExitCode::SUCCESS;
    }
    let Some(request) = Request::parse(arguments.into_iter()) else {
        eprint!("{HELP}");
        return ExitCode::from(2);
    };
    let told = Interrupt::listen()
        .map_err(Failure::from)
        .and_then(|interrupt| tell(&request, &interrupt).map_err(|error| leave(error, &interrupt)));
    match told {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is::<Interrupted>() => ExitCode::from(INTERRUPTED),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The user wanted the end: whatever went wrong then is no news.
#[derive(Debug)]
struct Interrupted;

impl std::fmt::Display for Interrupted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("interrupted")
    }
}

impl std::error::Error for Interrupted {}

fn leave(error: Failure, interrupt: &Interrupt) -> Failure {
    if interrupt.came() {
        Box::new(Interrupted)
    } else {
        error
    }
}

fn tell(request: &Request, interrupt: &Interrupt) -> Result<(), Failure> {
    let screen = Screen::default();
    screen.heading("Pictures");
    let files = pictures(request.folder.as_deref(), &screen)?;
    screen.heading("Satellites");
    let machine = start(&screen)?;
    install(&machine, interrupt, &screen)?;
    drop(machine);

    screen.heading("The PNG service, placed as its manifest says");
    let first = measure(&[], &files, request.time, interrupt, &screen)?;

    screen.heading(&format!(
        "Started afresh with --affinity {CHANGED}, which was {MANIFEST}"
    ));
    let second = measure(&[CHANGED.to_owned()], &files, request.time, interrupt, &screen)?;

    screen.heading("Side by side");
    compare(&first, &second, &screen);
    screen.aside("\n  The satellites are gone, and all they had.");
    Ok(())
}

fn pictures(folder: Option<&Path>, screen: &Screen) -> Result<Vec<File>, Failure> {
    let files = match folder {
        Some(folder) => read(folder)?,
        None => {
            let options = Options {
                count: PICTURES,
                seed: 1,
                largest: 1600,
            };
            let mut files = Vec::new();
            for file in png_generate::files(&options) {
                files.push(file?);
                screen.progress(files.len() as f64 / PICTURES as f64, "painting");
            }
            screen.end_progress();
            files
        }
    };
    let sizes = || files.iter().map(|file| file.bytes.len());
    let size = |count: Option<usize>| screen::bytes(count.unwrap_or_default() as f64);
    screen.line(&format!(
        "  {} PNGs of {} to {}{}",
        files.len(),
        size(sizes().min()),
        size(sizes().max()),
        match folder {
            Some(folder) => format!(", from {}", folder.display()),
            None => ", every colour type and depth, plain and interlaced".to_owned(),
        }
    ));
    Ok(files)
}

fn read(folder: &Path) -> Result<Vec<File>, Failure> {
    let about = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(about)? {
        let path = entry.map_err(about)?.path();
        if path
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("png"))
        {
            let bytes = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            files.push(File { name, bytes });
        }
    }
    files.sort_by(|a, b| a.name.cmp(&b.name));
    if files.is_empty() {
        return Err(format!("there are no PNGs in {}", folder.display()).into());
    }
    Ok(files)
}

fn start(screen: &Screen) -> Result<Machine, Failure> {
    let (machine, up) = Machine::start(SATELLITES)?;
    let row = |kernel: Kernel| {
        let cpus: Vec<String> = kernel.cpus.iter().map(u32::to_string).collect();
        let boot = kernel
            .boot_us
            .map_or_else(String::new, |us| screen::time(Duration::from_micros(us)));
        vec![
            format!("satellite {}", kernel.id),
            cpus.join(","),
            kernel.platform,
            boot,
        ]
    };
    let rows: Vec<Vec<String>> = machine.control().kernels()?.into_iter().map(row).collect();
    screen.table(&["", "CPUs", "platform", "booted in"], &[1, 2], &rows);
    screen.line(&format!("  all up in {}", screen::time(up)));
    Ok(machine)
}

/// Compiles the three programs, with a bar for all of them together.
fn install(machine: &Machine, interrupt: &Interrupt, screen: &Screen) -> Result<(), Failure> {
    let mut percents: BTreeMap<(String, String), f64> = BTreeMap::new();
    let mut programs = 1;
    let began = std::time::Instant::now();
    let result = machine.install(interrupt, |event| {
        let (program, target, percent) = match event {
            Event::InstallStarted {
                program,
                target,
                total,
                ..
            } => {
                programs = *total;
                (program, target, 0)
            }
            Event::InstallProgress {
                program,
                target,
                percent,
                ..
            } => (program, target, *percent),
            Event::InstallFinished { program, target, .. } => (program, target, 100),
            _ => return,
        };
        percents.insert((program.clone(), target.clone()), f64::from(percent));
        let share = percents.values().sum::<f64>() / 100.0 / programs as f64;
        let name = Path::new(program)
            .file_name()
            .unwrap_or_default()
            .to_string_lossy();
        screen.progress(share, &format!("compiling {name}"));
    });
    screen.end_progress();
    result?;
    let count = percents.len();
    screen.line(&format!(
        "  {count} programs installed in {}",
        screen::time(began.elapsed())
    ));
    Ok(())
}

/// What one placement came to.
struct Measured {
    placed: Vec<Placed>,
    outcome: Outcome,
    channels: Channels,
}

/// On new satellites: no load has been measured on them, so that numbers alone decide where processes go, however
/// busy the machine is.
fn measure(
    overrides: &[String],
    files: &[File],
    time: Duration,
    interrupt: &Interrupt,
    screen: &Screen,
) -> Result<Measured, Failure> {
    let (machine, _) = Machine::start(SATELLITES)?;
    let service = machine.run(overrides, interrupt)?;
    let placed = service.placed().to_vec();
    let row = |placed: &Placed| {
        // The satellite has a column of its own.
        let why = placed
            .reason
            .split_once(", ")
            .map_or(&*placed.reason, |(_, why)| why);
        vec![placed.name.clone(), placed.kernel.to_string(), why.to_owned()]
    };
    let rows: Vec<Vec<String>> = placed.iter().map(row).collect();
    screen.table(&["process", "satellite", "why"], &[2], &rows);
    let port = service.port();
    let task = Task {
        port,
        files,
        clients: CLIENTS,
        time,
    };
    let tick = |passed: Duration, done: u64| {
        let rate = done as f64 / passed.as_secs_f64();
        let share = passed.as_secs_f64() / time.as_secs_f64();
        screen.progress(share, &format!("{done} uploads, {rate:.0}/s"));
    };
    let measured = load::run(task, interrupt, tick);
    screen.end_progress();
    let outcome = measured?;
    let channels = figures::channels(&machine.control().channels()?);
    drop(service);
    report(port, &outcome, &channels, screen);
    Ok(Measured {
        placed,
        outcome,
        channels,
    })
}

fn report(port: u16, outcome: &Outcome, channels: &Channels, screen: &Screen) {
    screen.line(&format!(
        "\n  {} uploads from {CLIENTS} clients to 127.0.0.1:{port}: {:.1}/s, {}/s",
        outcome.uploads(),
        outcome.rate(),
        screen::bytes(outcome.throughput()),
    ));
    if outcome.refused > 0 {
        let refused = outcome.refused;
        screen.line(&format!(
            "  {refused} of them were refused: no PNG, or too large a one"
        ));
    }
    screen.line(&format!(
        "  latency p50 {}, p90 {}, p99 {}\n",
        screen::time(outcome.percentile(50)),
        screen::time(outcome.percentile(90)),
        screen::time(outcome.percentile(99)),
    ));
    let uploads = outcome.uploads().max(1) as f64;
    let row = |(name, each): (&String, &Counters)| {
        vec![
            name.clone(),
            each.messages.to_string(),
            screen::bytes(each.bytes as f64),
            each.copies.to_string(),
            screen::bytes(each.copied as f64 / uploads),
        ]
    };
    let rows: Vec<Vec<String>> = channels.iter().map(row).collect();
    screen.table(
        &["channel", "messages", "payload", "copies", "copied/upload"],
        &[],
        &rows,
    );
}

fn compare(first: &Measured, second: &Measured, screen: &Screen) {
    let mut rows: Vec<Vec<String>> = first
        .placed
        .iter()
        .map(|placed| {
            let there = second.placed.iter().find(|other| other.name == placed.name);
            let there = there.map_or_else(String::new, |other| format!("satellite {}", other.kernel));
            vec![
                placed.name.clone(),
                format!("satellite {}", placed.kernel),
                there,
                String::new(),
            ]
        })
        .collect();
    let mut figure = |name: &str, of: &dyn Fn(&Measured) -> f64, show: &dyn Fn(f64) -> String| {
        let (a, b) = (of(first), of(second));
        let change = (b / a - 1.0) * 100.0;
        let ratio = match change.is_finite() && change.abs() >= 0.5 {
            true => format!("{change:+.0} %"),
            false => String::new(),
        };
        rows.push(vec![name.to_owned(), show(a), show(b), ratio]);
    };
    let seconds = |value: f64| screen::time(Duration::from_secs_f64(value));
    let uploads = |run: &Measured| run.outcome.uploads().max(1) as f64;
    figure("uploads a second", &|run| run.outcome.rate(), &|value| {
        format!("{value:.1}")
    });
    figure("bytes a second", &|run| run.outcome.throughput(), &screen::bytes);
    for percent in [50, 90, 99] {
        let latency = move |run: &Measured| run.outcome.percentile(percent).as_secs_f64();
        figure(&format!("latency p{percent}"), &latency, &seconds);
    }
    let messages = |run: &Measured| figures::total(&run.channels).messages as f64 / uploads(run);
    figure("messages an upload", &messages, &|value| format!("{value:.1}"));
    let copies = |run: &Measured| figures::total(&run.channels).copies as f64 / uploads(run);
    figure("copies an upload", &copies, &|value| format!("{value:.1}"));
    let copied = |run: &Measured| figures::total(&run.channels).copied as f64 / uploads(run);
    figure("copied an upload", &copied, &screen::bytes);
    let headings = ["", MANIFEST, CHANGED, ""];
    screen.table(&headings, &[], &rows);
}
