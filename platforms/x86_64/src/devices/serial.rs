//! The first serial line: where the kernel speaks, and where the console output of processes goes.
//!
//! Polled, because a line that is only written needs no interrupt. A port that is not there never blocks.

use crate::cpu::{inb, outb};
use core::fmt;

const PORT: u16 = 0x3f8;
const INTERRUPTS: u16 = PORT + 1;
const LINE_CONTROL: u16 = PORT + 3;
const LINE_STATUS: u16 = PORT + 5;
/// Line status: the transmitter takes a byte.
const READY: u8 = 1 << 5;
/// Looks at the line status before a byte is given up.
const PATIENCE: u32 = 100_000;

/// Sets the line to 115,200 baud, 8 bits, no parity, no interrupts.
pub fn start() {
    // SAFETY: the port of a serial line, which touches no memory.
    unsafe {
        outb(INTERRUPTS, 0);
        outb(LINE_CONTROL, 0x80);
        outb(PORT, 1);
        outb(INTERRUPTS, 0);
        outb(LINE_CONTROL, 3);
    }
}

/// Writes bytes, with a carriage return before each line feed.
pub fn write(bytes: &[u8]) {
    for &byte in bytes {
        if byte == b'\n' {
            put(b'\r');
        }
        put(byte);
    }
}

fn put(byte: u8) {
    // SAFETY: as in `start`.
    unsafe {
        let ready = (0..PATIENCE).any(|_| inb(LINE_STATUS) & READY != 0);
        if ready {
            outb(PORT, byte);
        }
    }
}

/// The line for formatted text.
pub struct Line;

impl fmt::Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        write(text.as_bytes());
        Ok(())
    }
}

/// Writes a line of the kernel's own.
#[macro_export]
macro_rules! say {
    ($($arguments:tt)*) => {{
        // The line never fails.
        let _ = core::fmt::Write::write_fmt(
            &mut $crate::devices::serial::Line,
            format_args!("satrap: {}\n", format_args!($($arguments)*)),
        );
    }};
}
