//! A Satrap to measure: a coordinator in this process, satellites on chosen cores, and guests whose lines of
//! `key=value` are read from their output.
//!
//! Neighbours: `coordinator/daemon` is used as a library; the guests stand in `bench/guests`.

use crate::failure::{About, Failure, Result};
use crate::pin::Pinned;
use satrap_coordinator::api::{Control, Event, Flow, RunRequest, Source};
use satrap_coordinator::{Config, Coordinator};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// No guest of the benches runs longer.
const RUN_LIMIT: Duration = Duration::from_secs(120);
const BOOT_LIMIT: Duration = Duration::from_secs(10);

/// Two processes and the channel between them.
pub const LMP: &str = include_str!("../guests/Satrap.toml");
/// A process that sends one message.
pub const FIRST: &str = include_str!("../guests/first.toml");
/// Threads that yield.
pub const YIELD: &str = include_str!("../guests/yield.toml");
/// The same in one process.
pub const YIELD_ONE: &str = include_str!("../guests/yield-one.toml");

/// Satellites and their coordinator; dropping it ends them.
pub struct System {
    coordinator: Coordinator,
    guests: PathBuf,
    /// From the start to the registration of the last satellite.
    pub up: Duration,
}

/// One line of a guest: `key=value` pairs.
#[derive(Clone, Debug, Default)]
pub struct Line(BTreeMap<String, f64>);

impl Line {
    fn parse(text: &str) -> Line {
        let pair = |word: &str| {
            let (key, value) = word.split_once('=')?;
            Some((key.to_owned(), value.parse().ok()?))
        };
        Line(text.split_whitespace().filter_map(pair).collect())
    }

    /// The number under `key`.
    pub fn get(&self, key: &str) -> Result<f64> {
        self.0
            .get(key)
            .copied()
            .ok_or_else(|| Failure::new(format!("a guest's line has no number `{key}`")))
    }
}

/// What guests have written until now.
#[derive(Default)]
struct Written {
    /// Standard output by process, lines not yet ended.
    open: BTreeMap<u64, String>,
    lines: Vec<Line>,
    /// Standard error of all, for when something fails.
    complaints: String,
}

impl Written {
    fn add(&mut self, process: u64, stream: u8, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        if stream != 1 {
            self.complaints.push_str(&text);
            return;
        }
        let open = self.open.entry(process).or_default();
        open.push_str(&text);
        while let Some(end) = open.find('\n') {
            self.lines.push(Line::parse(&open[..end]));
            open.drain(..=end);
        }
    }
}

impl System {
    /// `satellites` satellites that share `cores`, all registered.
    pub fn start(cores: &[usize], satellites: usize, guests: PathBuf) -> Result<System> {
        let mut config = Config::from_environment().about("finding Satrap's programs")?;
        config.satellites = Some(satellites);
        // The coordinator divides the cores that its starter may use.
        let pinned = Pinned::to(cores)?;
        let coordinator = Coordinator::start(config).about("starting satellites")?;
        let up = coordinator.wait_ready(BOOT_LIMIT);
        drop(pinned);
        Ok(System {
            coordinator,
            guests,
            up: up.ok_or_else(|| Failure::new("a satellite does not come up"))?,
        })
    }

    /// An application of the guests by its manifest.
    pub fn manifest(&self, text: &str) -> Source {
        Source::Manifest {
            text: text.to_owned(),
            file: "bench".to_owned(),
            base: self.guests.clone(),
        }
    }

    /// One guest by its name.
    pub fn program(&self, name: &str) -> Source {
        Source::Program(self.guests.join(format!("{name}.wasm")))
    }

    /// Runs something to its end and returns the lines that its processes wrote.
    pub fn run(&self, source: Source, args: &[&str], overrides: &[&str]) -> Result<Vec<Line>> {
        let mut lines = Vec::new();
        self.watch(source, args, overrides, &mut |line| lines.push(line))?;
        Ok(lines)
    }

    /// Runs something to its end and hands over each line when it comes.
    pub fn watch(
        &self,
        source: Source,
        args: &[&str],
        overrides: &[&str],
        sink: &mut dyn FnMut(Line),
    ) -> Result<()> {
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let request = RunRequest {
            source,
            args: owned(args),
            overrides: owned(overrides),
            attached: true,
        };
        let (begin, mut written, mut code) = (Instant::now(), Written::default(), None);
        let control: &dyn Control = &self.coordinator;
        let ended = control.run(request, &mut |event| {
            match event {
                Some(Event::Output {
                    process,
                    stream,
                    data,
                    ..
                }) => written.add(process, stream, data.bytes()),
                Some(Event::AppEnded { code: ended, .. }) => code = Some(ended),
                _ => {}
            }
            written.lines.drain(..).for_each(&mut *sink);
            match begin.elapsed() < RUN_LIMIT {
                true => Flow::Continue,
                false => Flow::Stop,
            }
        });
        ended.about("running guests")?;
        match code {
            Some(0) => Ok(()),
            Some(code) => Err(Failure::new(format!(
                "a guest ended with {code}: {}",
                written.complaints.trim()
            ))),
            None => Err(Failure::new(format!(
                "guests did not end within {RUN_LIMIT:?}: {}",
                written.complaints.trim()
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_comes_in_parts_is_read_whole() {
        let mut written = Written::default();
        written.add(1, 1, b"case=inline ns_e");
        written.add(2, 1, b"ns_each=9\n");
        written.add(1, 1, b"ach=4.5\nrest");
        let figures: Vec<f64> = written
            .lines
            .iter()
            .map(|line| line.get("ns_each").unwrap())
            .collect();
        assert_eq!(figures, [9.0, 4.5]);
        assert!(written.lines[0].get("case").is_err());
    }

    #[test]
    fn complaints_are_kept_for_the_error() {
        let mut written = Written::default();
        written.add(1, 2, b"error: no\n");
        assert_eq!(written.complaints, "error: no\n");
        assert!(written.lines.is_empty());
    }
}
