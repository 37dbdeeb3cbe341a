//! How `./x` speaks: one line for each thing it does, with the time it took; colour only for a terminal.
//!
//! On a terminal a running step shows its last line of output; elsewhere it says once a minute that it lives.

use std::io::{IsTerminal, Write};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Colours used, as ANSI codes.
#[derive(Clone, Copy)]
pub enum Colour {
    /// It went well.
    Green,
    /// It failed.
    Red,
    /// It was skipped or remembered.
    Dim,
    /// A heading.
    Bold,
}

/// Whether standard output is a terminal.
pub fn on_terminal() -> bool {
    static TERMINAL: OnceLock<bool> = OnceLock::new();
    *TERMINAL.get_or_init(|| std::io::stdout().is_terminal())
}

/// `text` in colour where that can be seen.
pub fn paint(colour: Colour, text: &str) -> String {
    if !on_terminal() || std::env::var_os("NO_COLOR").is_some() {
        return text.to_string();
    }
    let code = match colour {
        Colour::Green => "32",
        Colour::Red => "31",
        Colour::Dim => "2",
        Colour::Bold => "1",
    };
    format!("\x1b[{code}m{text}\x1b[0m")
}

/// A duration for people: `0.4 s`, `75 s`, `12 min 3 s`.
pub fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..10 => format!("{:.1} s", time.as_secs_f64()),
        10..120 => format!("{seconds} s"),
        _ => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

/// The line of a running step.
pub struct Progress {
    label: String,
    started: Instant,
    said: Instant,
}

const HEARTBEAT: Duration = Duration::from_secs(60);
const REDRAW: Duration = Duration::from_millis(100);
const LINE: usize = 100;

impl Progress {
    /// Starts the line of `label`.
    pub fn start(label: &str) -> Progress {
        let now = Instant::now();
        if on_terminal() {
            print!("  {label} …");
            flush();
        }
        Progress {
            label: label.to_string(),
            started: now,
            said: now,
        }
    }

    /// The step has written `line`.
    pub fn tick(&mut self, line: &str) {
        let pause = if on_terminal() { REDRAW } else { HEARTBEAT };
        if self.said.elapsed() < pause {
            return;
        }
        self.said = Instant::now();
        let text = format!(
            "  {} … {} {}",
            self.label,
            duration(self.started.elapsed()),
            line.trim()
        );
        let text: String = text.chars().take(LINE).collect();
        if on_terminal() {
            print!("\r\x1b[2K{text}");
            flush();
        } else {
            println!("{text}");
        }
    }

    /// Ends the line with what came of it, and returns the time it took.
    pub fn finish(self, colour: Colour, result: &str) -> Duration {
        let time = self.started.elapsed();
        if on_terminal() {
            print!("\r\x1b[2K");
        }
        println!(
            "  {:<28} {:>12}  {}",
            self.label,
            duration(time),
            paint(colour, result)
        );
        time
    }
}

fn flush() {
    // A terminal that is gone is no reason to stop the work.
    let _ = std::io::stdout().flush();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_well() {
        assert_eq!(duration(Duration::from_millis(430)), "0.4 s");
        assert_eq!(duration(Duration::from_secs(75)), "75 s");
        assert_eq!(duration(Duration::from_secs(723)), "12 min 3 s");
    }
}
