//! `satrap-x86_64`: a satellite kernel that owns a PC. The same kernel and engine as everywhere, on a machine
//! without an operating system.
//!
//! Start reading at `entry.s`, which a PVH loader enters, then `boot.rs`. Neighbours: `kernel/core` (the
//! `Platform` trait, in `platform.rs`), `kernel/engine` (the `Machine` trait, in `machine.rs`). `boot` beside
//! this folder starts it in QEMU.

#![no_std]
#![no_main]

extern crate alloc;

mod boot;
mod command;
mod coordinator;
mod cpu;
mod devices;
mod machine;
mod memory;
mod platform;
mod pvh;
mod traps;

use core::arch::global_asm;
use core::panic::PanicInfo;
use devices::power::{End, off};

global_asm!(include_str!("entry.s"), start = sym start);

/// Called by `entry.s` on the boot stack, with the address that the loader passed.
extern "C" fn start(info: usize) -> ! {
    devices::serial::start();
    match boot::run(info) {
        Ok(end) => off(end),
        Err(error) => {
            say!("cannot start: {error}");
            off(End::Panic)
        }
    }
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    say!("the kernel failed; this is a bug: {info}");
    off(End::Panic)
}
