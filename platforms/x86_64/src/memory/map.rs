//! The kernel's own map: the machine's memory one to one, each part with no more rights than it needs.
//!
//! The first page is left out: compiled Wasm code loads from address 0 in order to fault.

use super::frames::{FRAME, Frames};
use super::tables::{LARGE_PAGE, Leaf, Rights, Tables};
use crate::devices::apic;
use core::ops::Range;
use core::ptr::addr_of;

/// A range of physical memory.
pub type RamRange = Range<usize>;

/// Memory beyond is not used: one to one, it would run into the reservations' part of the address space.
pub const TOP: usize = 4 << 30;

unsafe extern "C" {
    static kernel_start: u8;
    static kernel_text_end: u8;
    static kernel_rodata_end: u8;
    static kernel_end: u8;
}

/// First address behind the kernel.
pub fn image_end() -> usize {
    addr_of!(kernel_end).addr()
}

/// Tables for the kernel: its image by sections, the low memory and `ram` as data, the local APIC's registers.
pub fn kernel(frames: &mut Frames, ram: impl Iterator<Item = RamRange>) -> Option<Tables> {
    let mut tables = Tables::new(frames)?;
    // The loader's data lies below the kernel.
    let low = 0..image_end().next_multiple_of(LARGE_PAGE);
    for page in low.clone().step_by(FRAME).skip(1) {
        let leaf = Leaf::shared(page as u64).with(rights(page));
        // SAFETY: the tables are not in use.
        unsafe { tables.set(frames, page, leaf) }.ok()?;
    }
    for range in ram {
        let first = (range.start & !(LARGE_PAGE - 1)).max(low.end);
        for page in (first..range.end.min(TOP)).step_by(LARGE_PAGE) {
            // SAFETY: the tables are not in use.
            unsafe { tables.set_large(frames, page, Rights::ReadWrite) }.ok()?;
        }
    }
    let registers = Leaf::shared(apic::REGISTERS as u64).with(Rights::Device);
    // SAFETY: the tables are not in use.
    unsafe { tables.set(frames, apic::REGISTERS, registers) }.ok()?;
    Some(tables)
}

fn rights(page: usize) -> Rights {
    let image = addr_of!(kernel_start).addr();
    match page {
        _ if page < image => Rights::ReadWrite,
        _ if page < addr_of!(kernel_text_end).addr() => Rights::ReadExecute,
        _ if page < addr_of!(kernel_rodata_end).addr() => Rights::Read,
        _ => Rights::ReadWrite,
    }
}
