//! The few devices that a satellite kernel needs of a PC: a serial line, a timer, a clock, a way to switch off.
//!
//! Each is a file. None is discovered: they are at the addresses that every PC has had since its beginnings.

pub mod apic;
pub mod clock;
pub mod entropy;
pub mod power;
pub mod rtc;
pub mod serial;
