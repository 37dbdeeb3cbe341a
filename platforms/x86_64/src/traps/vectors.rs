//! The interrupt descriptor table: which vector enters where, and on which stack.
//!
//! Vectors that nothing raises are absent: an interrupt there is a fault, and the kernel says so.

use super::entry::{plain, with_code};
use crate::devices::apic::{SPURIOUS, TIMER};

/// Code segment of the kernel, as `entry.s` and `segments` set it.
const CODE: u64 = 8;
/// Present, ring 0, interrupt gate: interrupts stay held back.
const GATE: u64 = 0x8e;

/// Stacks of handlers: a double fault must not use that of the fault before it.
pub const STACK_FAULT: u64 = 1;
pub const STACK_DOUBLE_FAULT: u64 = 2;
pub const STACK_INTERRUPT: u64 = 3;
pub const DOUBLE_FAULT: usize = 8;

/// An entry of the table.
pub type Descriptor = [u64; 2];

type Entry = unsafe extern "C" fn();

/// The entries for the exceptions, in order of their vectors.
const EXCEPTIONS: [Entry; 22] = [
    plain::<0>,
    plain::<1>,
    plain::<2>,
    plain::<3>,
    plain::<4>,
    plain::<5>,
    plain::<6>,
    plain::<7>,
    with_code::<8>,
    plain::<9>,
    with_code::<10>,
    with_code::<11>,
    with_code::<12>,
    with_code::<13>,
    with_code::<14>,
    plain::<15>,
    plain::<16>,
    with_code::<17>,
    plain::<18>,
    plain::<19>,
    plain::<20>,
    with_code::<21>,
];

/// The table.
pub fn table() -> [Descriptor; 256] {
    let mut table = [[0; 2]; 256];
    for (vector, &entry) in EXCEPTIONS.iter().enumerate() {
        let stack = match vector {
            DOUBLE_FAULT => STACK_DOUBLE_FAULT,
            _ => STACK_FAULT,
        };
        table[vector] = descriptor(entry, stack);
    }
    table[usize::from(TIMER)] = descriptor(plain::<TIMER>, STACK_INTERRUPT);
    table[usize::from(SPURIOUS)] = descriptor(plain::<SPURIOUS>, STACK_INTERRUPT);
    table
}

fn descriptor(entry: Entry, stack: u64) -> Descriptor {
    let address = entry as *const () as u64;
    let low = address & 0xffff | CODE << 16 | stack << 32 | GATE << 40 | (address >> 16 & 0xffff) << 48;
    [low, address >> 32]
}
