//! The date, from the battery-backed clock: read once, because it is slow and ticks in seconds.
//!
//! `clock.rs` counts on from there. A clock that is absent or makes no sense is no error.

use crate::cpu::{inb, outb};

const INDEX: u16 = 0x70;
const DATA: u16 = 0x71;
const STATUS_A: u8 = 0x0a;
const STATUS_B: u8 = 0x0b;
/// Status A: the registers are about to change.
const UPDATING: u8 = 1 << 7;
/// Status B: hours count to 24; numbers are binary.
const HOURS_24: u8 = 1 << 1;
const BINARY: u8 = 1 << 2;
/// Readings before the clock is taken to be broken.
const TRIES: u32 = 100_000;

fn register(index: u8) -> u8 {
    // SAFETY: the clock's ports; reading a register changes nothing.
    unsafe {
        outb(INDEX, index);
        inb(DATA)
    }
}

/// Seconds, minutes, hours, day, month, year as the clock holds them.
fn registers() -> [u8; 6] {
    [0, 2, 4, 7, 8, 9].map(register)
}

/// Seconds since the Unix epoch, or `None` if there is no clock or it makes no sense.
pub fn seconds() -> Option<u64> {
    let mut tries = 0..TRIES;
    let raw = loop {
        tries.next()?;
        let before = registers();
        if register(STATUS_A) & UPDATING == 0 && registers() == before {
            break before;
        }
    };
    let status = register(STATUS_B);
    let number = |raw: u8| match status & BINARY {
        0 => u64::from(raw >> 4) * 10 + u64::from(raw & 15),
        _ => u64::from(raw),
    };
    let afternoon = status & HOURS_24 == 0 && raw[2] & 0x80 != 0;
    let mut hour = number(raw[2] & 0x7f);
    if status & HOURS_24 == 0 {
        hour = hour % 12 + if afternoon { 12 } else { 0 };
    }
    let (day, month, year) = (number(raw[3]), number(raw[4]), 2000 + number(raw[5]));
    let sensible = (1..=31).contains(&day) && (1..=12).contains(&month) && hour < 24 && year < 2100;
    sensible.then(|| ((days(year, month, day) * 24 + hour) * 60 + number(raw[1])) * 60 + number(raw[0]))
}

/// Days from 1 January 1970 to a date of the Gregorian calendar, counted in years that begin in March.
fn days(year: u64, month: u64, day: u64) -> u64 {
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day - 719_469
}
