//! The console: `print!` and its kin. Rust's own go nowhere on `wasm32-unknown-unknown`, so import these.
//!
//! Output is kept until its line is complete, so that lines of several processes do not mix; errors are
//! written at once.

use std::fmt::Arguments;
use std::sync::{Mutex, PoisonError};

use satrap_abi::limits::CONSOLE_MAX;

use crate::raw::{self, calls};

const OUTPUT: i32 = 1;
const ERRORS: i32 = 2;

/// A line that is not complete yet.
static PENDING: Mutex<String> = Mutex::new(String::new());

/// Prints to the console, as `std::print!`.
#[macro_export]
macro_rules! print {
    ($($text:tt)*) => { $crate::console::print(::core::format_args!($($text)*)) };
}

/// Prints a line to the console, as `std::println!`.
#[macro_export]
macro_rules! println {
    () => { $crate::print!("\n") };
    ($($text:tt)*) => { $crate::print!("{}\n", ::core::format_args!($($text)*)) };
}

/// Prints to the console's error stream, as `std::eprint!`.
#[macro_export]
macro_rules! eprint {
    ($($text:tt)*) => { $crate::console::eprint(::core::format_args!($($text)*)) };
}

/// Prints a line to the console's error stream, as `std::eprintln!`.
#[macro_export]
macro_rules! eprintln {
    () => { $crate::eprint!("\n") };
    ($($text:tt)*) => { $crate::eprint!("{}\n", ::core::format_args!($($text)*)) };
}

#[doc(hidden)]
pub fn print(text: Arguments<'_>) {
    // Formatted before the lock is taken: a `Display` of the program's may itself print, or block.
    let text = std::fmt::format(text);
    let lines = complete_lines(&mut PENDING.lock().unwrap_or_else(PoisonError::into_inner), text);
    write(OUTPUT, &lines);
}

#[doc(hidden)]
pub fn eprint(text: Arguments<'_>) {
    write(ERRORS, &std::fmt::format(text));
}

/// Writes out what was printed without a line's end.
pub fn flush() {
    let rest = std::mem::take(&mut *PENDING.lock().unwrap_or_else(PoisonError::into_inner));
    write(OUTPUT, &rest);
}

/// Makes a panic's message appear on the console before the process traps.
pub(crate) fn report_panics() {
    std::panic::set_hook(Box::new(|panic| {
        flush();
        eprint(format_args!("thread {} {panic}\n", raw::thread_id()));
    }));
}

/// Appends `text` to `pending`, and takes out what ends with the last line's end.
fn complete_lines(pending: &mut String, text: String) -> String {
    let Some(end) = text.rfind('\n') else {
        pending.push_str(&text);
        if pending.len() < CONSOLE_MAX {
            return String::new();
        }
        return std::mem::take(pending);
    };
    let (complete, rest) = text.split_at(end + 1);
    let mut lines = std::mem::replace(pending, rest.to_owned());
    lines.push_str(complete);
    lines
}

/// Writes in pieces that the kernel takes. A console that is gone must not stop the program.
fn write(stream: i32, text: &str) {
    for piece in text.as_bytes().chunks(CONSOLE_MAX) {
        if calls::console_write(stream, piece).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_wait_until_they_are_complete() {
        let mut pending = String::new();
        assert_eq!(complete_lines(&mut pending, "one".into()), "");
        assert_eq!(
            complete_lines(&mut pending, " line\nanother\nhalf".into()),
            "one line\nanother\n"
        );
        assert_eq!(pending, "half");
        assert_eq!(complete_lines(&mut pending, "\n".into()), "half\n");
        assert_eq!(pending, "");
    }

    #[test]
    fn a_line_without_end_is_written_when_it_is_too_long() {
        let mut pending = "x".repeat(CONSOLE_MAX - 1);
        assert_eq!(complete_lines(&mut pending, "y".into()).len(), CONSOLE_MAX);
        assert_eq!(pending, "");
    }
}
