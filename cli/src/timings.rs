//! `--timings`: the moments of a command, so that slow ones are seen and not guessed.
//!
//! They go to standard error, so that output stays what it is; `main.rs` prints them.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// The moments of one command.
pub struct Timings {
    start: Instant,
    /// None where nobody asked for them.
    moments: Option<Mutex<Vec<(&'static str, Duration)>>>,
}

impl Timings {
    /// The clock runs from here.
    pub fn start() -> Timings {
        Timings {
            start: Instant::now(),
            moments: None,
        }
    }

    /// Notes moments from now on.
    pub fn enable(&mut self) {
        self.moments = Some(Mutex::default());
    }

    /// Notes that something has just happened.
    pub fn mark(&self, what: &'static str) {
        if let Some(moments) = &self.moments {
            let mut moments = moments.lock().unwrap_or_else(PoisonError::into_inner);
            moments.push((what, self.start.elapsed()));
        }
    }

    /// Prints them to standard error: since the start, and since the moment before.
    pub fn print(&self) {
        let Some(moments) = &self.moments else {
            return;
        };
        let mut before = Duration::ZERO;
        for (what, at) in moments.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            eprintln!("{:>9.3} ms  +{:>8.3}  {what}", ms(*at), ms(*at - before));
            before = *at;
        }
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
