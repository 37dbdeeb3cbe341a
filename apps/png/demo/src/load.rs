//! Uploads from several clients at once, and how long each took.
//!
//! Each client is a thread with a connection of its own (`client.rs`), and all start together. `figures.rs`
//! adds what the kernels counted.

use crate::{client::Connection, interrupt::Interrupt, service::Failure};
use png_generate::File;
use std::{
    io,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// How often progress is told.
const TICK: Duration = Duration::from_millis(100);

/// What is asked of the clients.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// The service's port.
    pub port: u16,
    /// What they send, again and again.
    pub files: &'a [File],
    /// How many there are.
    pub clients: usize,
    /// How long they go on.
    pub time: Duration,
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Time from the first upload to the last answer.
    pub elapsed: Duration,
    /// Pictures that were decoded.
    pub decoded: u64,
    /// Pictures that were refused.
    pub refused: u64,
    /// Their bytes together.
    pub bytes: u64,
    /// Time from the first byte of each upload to the last of its answer, shortest first.
    pub latencies: Vec<Duration>,
}

impl Outcome {
    /// All uploads.
    pub fn uploads(&self) -> u64 {
        self.decoded + self.refused
    }

    /// Uploads a second.
    pub fn rate(&self) -> f64 {
        self.uploads() as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }

    /// Uploaded bytes a second.
    pub fn throughput(&self) -> f64 {
        self.bytes as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }

    /// The latency that `percent` of the uploads stayed within.
    pub fn percentile(&self, percent: usize) -> Duration {
        let last = self.latencies.len().saturating_sub(1);
        let index = (self.latencies.len() * percent / 100).min(last);
        self.latencies.get(index).copied().unwrap_or_default()
    }
}

/// What the clients share.
struct Run<'a> {
    task: Task<'a>,
    next: AtomicU64,
    done: AtomicU64,
    stop: AtomicBool,
    total: Mutex<Outcome>,
}

/// Uploads for a while. `tick` is told from time to time how much of it has passed and how many uploads there
/// were.
///
/// # Errors
/// A client cannot connect or loses its connection, or the user has asked for the end.
pub fn run(
    task: Task<'_>,
    interrupt: &Interrupt,
    mut tick: impl FnMut(Duration, u64),
) -> Result<Outcome, Failure> {
    let run = Run {
        task,
        next: AtomicU64::new(0),
        done: AtomicU64::new(0),
        stop: AtomicBool::new(false),
        total: Mutex::default(),
    };
    let began = Instant::now();
    let results: Vec<_> = thread::scope(|scope| {
        let clients: Vec<_> = (0..task.clients).map(|_| scope.spawn(|| run.client())).collect();
        while began.elapsed() < task.time && !interrupt.came() && !run.stop.load(Ordering::Relaxed) {
            thread::sleep(TICK);
            tick(began.elapsed(), run.done.load(Ordering::Relaxed));
        }
        run.stop.store(true, Ordering::Relaxed);
        clients.into_iter().map(thread::ScopedJoinHandle::join).collect()
    });
    let elapsed = began.elapsed();
    if interrupt.came() {
        return Err("interrupted".into());
    }
    for result in results {
        result.map_err(|_| "a client panicked")??;
    }
    let mut outcome = run.total.into_inner().unwrap_or_else(PoisonError::into_inner);
    outcome.elapsed = elapsed;
    outcome.latencies.sort_unstable();
    Ok(outcome)
}

impl Run<'_> {
    fn client(&self) -> io::Result<()> {
        let mut outcome = Outcome::default();
        let mut connection = Connection::open(self.task.port);
        let result = match &mut connection {
            Ok(connection) => self.uploads(connection, &mut outcome),
            Err(error) => Err(io::Error::new(error.kind(), format!("cannot connect: {error}"))),
        };
        if result.is_err() {
            self.stop.store(true, Ordering::Relaxed);
        }
        let mut total = self.total.lock().unwrap_or_else(PoisonError::into_inner);
        total.decoded += outcome.decoded;
        total.refused += outcome.refused;
        total.bytes += outcome.bytes;
        total.latencies.append(&mut outcome.latencies);
        result
    }

    fn uploads(&self, connection: &mut Connection, outcome: &mut Outcome) -> io::Result<()> {
        while !self.stop.load(Ordering::Relaxed) {
            let index = self.next.fetch_add(1, Ordering::Relaxed) as usize;
            let file = &self.task.files[index % self.task.files.len()];
            let began = Instant::now();
            let response = connection.decode(&file.bytes)?;
            outcome.latencies.push(began.elapsed());
            outcome.bytes += file.bytes.len() as u64;
            match response.status {
                200 => outcome.decoded += 1,
                413 | 422 => outcome.refused += 1,
                status => return Err(io::Error::other(format!("{}: status {status}", file.name))),
            }
            self.done.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_the_sorted_latencies() {
        let latencies = (0..200).map(Duration::from_millis).collect();
        let outcome = Outcome {
            latencies,
            ..Outcome::default()
        };
        assert_eq!(outcome.percentile(50), Duration::from_millis(100));
        assert_eq!(outcome.percentile(99), Duration::from_millis(198));
        assert_eq!(Outcome::default().percentile(99), Duration::ZERO);
    }
}
