//! The page tables of x86-64: four levels of 512 entries.
//!
//! A table stands in a frame, and frames are mapped one to one, so an entry's address is a pointer. An entry
//! says whether its frame belongs to the page or is lent.

use super::frames::{FRAME, Frames};
use crate::cpu::{flush_page, set_page_table};
use core::ptr::with_exposed_provenance_mut;
use satrap_abi::Errno;

const PRESENT: u64 = 1 << 0;
const WRITABLE: u64 = 1 << 1;
const WRITE_THROUGH: u64 = 1 << 3;
const UNCACHED: u64 = 1 << 4;
const LARGE: u64 = 1 << 7;
/// Ignored by the CPU: the frame is somebody else's.
const LENT: u64 = 1 << 9;
/// Ignored by the CPU: there is a frame, though the page has no rights at present.
const HIDDEN: u64 = 1 << 10;
const NOT_EXECUTABLE: u64 = 1 << 63;
const ADDRESS: u64 = 0x000f_ffff_ffff_f000;

const ENTRIES: usize = 512;
/// Bytes behind one entry of the second level, and behind one table of the lowest.
pub const LARGE_PAGE: usize = ENTRIES * FRAME;

/// What may be done with a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rights {
    /// Nothing.
    None,
    /// Loads.
    Read,
    /// Loads and stores.
    ReadWrite,
    /// Loads and execution.
    ReadExecute,
    /// Loads and stores of a device's registers, past the caches.
    Device,
}

impl Rights {
    const fn bits(self) -> u64 {
        match self {
            Rights::None => HIDDEN,
            Rights::Read => PRESENT | NOT_EXECUTABLE,
            Rights::ReadWrite => PRESENT | WRITABLE | NOT_EXECUTABLE,
            Rights::ReadExecute => PRESENT,
            Rights::Device => PRESENT | WRITABLE | NOT_EXECUTABLE | WRITE_THROUGH | UNCACHED,
        }
    }
}

/// An entry of the lowest level that has a frame.
#[derive(Clone, Copy)]
pub struct Leaf(u64);

impl Leaf {
    /// A page with a frame of its own.
    pub fn private(frame: u64) -> Leaf {
        Leaf(frame | HIDDEN)
    }

    /// A page over somebody else's frame.
    pub fn shared(frame: u64) -> Leaf {
        Leaf(frame | HIDDEN | LENT)
    }

    /// The same with other rights.
    pub fn with(self, rights: Rights) -> Leaf {
        Leaf(self.0 & (ADDRESS | LENT) | rights.bits())
    }

    fn own_frame(self) -> Option<u64> {
        (self.0 & LENT == 0).then_some(self.0 & ADDRESS)
    }
}

/// The page tables.
pub struct Tables {
    root: u64,
}

/// The entry for `address` in the table of `level` (0 the lowest) that stands at `table`.
fn entry(table: u64, address: usize, level: u32) -> *mut u64 {
    let index = address >> (12 + 9 * level) & (ENTRIES - 1);
    with_exposed_provenance_mut::<u64>(table as usize).wrapping_add(index)
}

/// Reads an entry.
fn get(entry: *mut u64) -> u64 {
    // SAFETY: `entry` points into a table of ours, which the lock around `Tables` makes ours alone; the CPU
    // changes only bits that nobody here reads.
    unsafe { entry.read_volatile() }
}

/// Writes an entry.
///
/// # Safety
/// The mapping that changes is the caller's to change.
unsafe fn put(entry: *mut u64, value: u64) {
    // SAFETY: as in `get`, and the caller's promise.
    unsafe { entry.write_volatile(value) }
}

impl Tables {
    /// Tables that map nothing.
    pub fn new(frames: &mut Frames) -> Option<Tables> {
        frames.take_zeroed().map(|root| Tables { root })
    }

    /// Makes the CPU use them.
    ///
    /// # Safety
    /// They map everything that the kernel uses.
    pub unsafe fn activate(&self) {
        // SAFETY: the caller's promise.
        unsafe { set_page_table(self.root) }
    }

    /// The lowest table for `address`, if there is one.
    fn lowest(&self, address: usize) -> Result<u64, usize> {
        let mut table = self.root;
        for level in (1..4).rev() {
            let value = get(entry(table, address, level));
            if value & PRESENT == 0 || value & LARGE != 0 {
                let span = 1 << (12 + 9 * level);
                return Err((address & !(span - 1)) + span);
            }
            table = value & ADDRESS;
        }
        Ok(table)
    }

    /// The table of `level` for `address`; it and those above it are made where they are missing.
    fn make(&mut self, frames: &mut Frames, address: usize, level: u32) -> Result<u64, Errno> {
        let mut table = self.root;
        for above in (level + 1..4).rev() {
            let place = entry(table, address, above);
            let mut value = get(place);
            if value & PRESENT == 0 {
                value = frames.take_zeroed().ok_or(Errno::NoMemory)? | PRESENT | WRITABLE;
                // SAFETY: an empty table maps nothing, as did its absence.
                unsafe { put(place, value) };
            }
            table = value & ADDRESS;
        }
        Ok(table)
    }

    /// The page at `address`, if it has a frame.
    pub fn leaf(&self, address: usize) -> Option<Leaf> {
        let value = get(entry(self.lowest(address).ok()?, address, 0));
        (value != 0).then_some(Leaf(value))
    }

    /// Puts a page at `address`, in place of one that has the same frame or none. If there is no memory for a
    /// table, a frame of the page's own is given back.
    ///
    /// # Safety
    /// The mapping at `address` is the caller's to change.
    pub unsafe fn set(&mut self, frames: &mut Frames, address: usize, leaf: Leaf) -> Result<(), Errno> {
        match self.make(frames, address, 0) {
            Ok(table) => {
                // SAFETY: the caller's promise.
                unsafe { put(entry(table, address, 0), leaf.0) };
                flush_page(address);
                Ok(())
            }
            Err(errno) => {
                if let Some(frame) = leaf.own_frame() {
                    // SAFETY: the page has no table, so the frame is new and was never mapped.
                    unsafe { frames.give(frame) };
                }
                Err(errno)
            }
        }
    }

    /// Puts a page of 2 MiB at `address`, for memory of the kernel's own.
    ///
    /// # Safety
    /// As for [`Tables::set`]; there is nothing yet.
    pub unsafe fn set_large(
        &mut self,
        frames: &mut Frames,
        address: usize,
        rights: Rights,
    ) -> Result<(), Errno> {
        let table = self.make(frames, address, 1)?;
        // SAFETY: the caller's promise.
        unsafe { put(entry(table, address, 1), address as u64 | rights.bits() | LARGE) };
        Ok(())
    }

    /// Calls `work` with each entry of a range that has a frame, and its address.
    fn each(&self, start: usize, bytes: usize, mut work: impl FnMut(*mut u64, usize)) {
        let mut address = start;
        while address < start + bytes {
            match self.lowest(address) {
                Ok(table) => {
                    let place = entry(table, address, 0);
                    if get(place) != 0 {
                        work(place, address);
                    }
                    address += FRAME;
                }
                Err(next) => address = next,
            }
        }
    }

    /// Takes every right away from pages, which keep their frames.
    ///
    /// # Safety
    /// Nobody relies on their rights.
    pub unsafe fn hide(&mut self, start: usize, bytes: usize) {
        self.each(start, bytes, |place, address| {
            // SAFETY: the caller's promise.
            unsafe { put(place, Leaf(get(place)).with(Rights::None).0) };
            flush_page(address);
        });
    }

    /// Takes pages away, with the frames of their own.
    ///
    /// # Safety
    /// Nobody uses them any more.
    pub unsafe fn clear(&mut self, frames: &mut Frames, start: usize, bytes: usize) {
        self.each(start, bytes, |place, address| {
            let own = Leaf(get(place)).own_frame();
            // SAFETY: the caller's promise: neither the page nor its frame is used any more.
            unsafe {
                put(place, 0);
                flush_page(address);
                own.into_iter().for_each(|frame| frames.give(frame));
            }
        });
    }

    /// Takes the lowest tables of a range away, which no page uses any more.
    ///
    /// # Safety
    /// The range is whole tables, and cleared.
    pub unsafe fn prune(&mut self, frames: &mut Frames, start: usize, bytes: usize) {
        let mut address = start;
        while address < start + bytes {
            match self.lowest(address) {
                Ok(lowest) => {
                    // The tables above are there, because the lowest is.
                    if let Ok(table) = self.make(frames, address, 1) {
                        // SAFETY: the table maps nothing; with its last page flushed, the CPU forgets it too.
                        unsafe {
                            put(entry(table, address, 1), 0);
                            flush_page(address);
                            frames.give(lowest);
                        }
                    }
                    address += LARGE_PAGE;
                }
                Err(next) => address = next,
            }
        }
    }
}
