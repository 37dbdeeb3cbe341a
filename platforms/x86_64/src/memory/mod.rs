//! Memory: frames, page tables, address space, and the kernel's heap.
//!
//! Every page that becomes accessible gets its frame at once. So a page fault is always an error, running out
//! of memory is an error code of the call that asked, and no fault handler needs a lock that the interrupted
//! code may hold. Neighbours: `machine.rs` lends this to the engine; `traps` reports faults.

mod frames;
mod heap;
mod map;
mod ranges;
mod tables;

pub use frames::FRAME;
pub use map::{RamRange, TOP, image_end};
pub use tables::Rights;

use core::ops::Range;
use core::ptr::{NonNull, with_exposed_provenance_mut};
use frames::Frames;
use ranges::Ranges;
use satrap_abi::Errno;
use satrap_sync::SpinLock;
use tables::{Leaf, Tables};

/// Addresses of reservations. Below lies the machine as it is, one to one.
const SPACE: Range<usize> = 1 << 39..1 << 46;
/// Parts of the memory that the kernel's heap and the exchange heap get: one in so many.
const HEAP_SHARE: usize = 4;
const EXCHANGE_SHARE: usize = 8;

/// Most tables that a range needs beside those that it fills: its ends, and the levels above.
const TABLES_AROUND: usize = 6;

/// What is behind the lock.
struct Memory {
    frames: Frames,
    tables: Tables,
    ranges: Ranges,
}

impl Memory {
    /// Whether there are frames for `pages` new pages and for the tables of a range of `bytes`.
    fn require(&self, pages: usize, bytes: usize) -> Result<(), Errno> {
        let tables = bytes / tables::LARGE_PAGE + TABLES_AROUND;
        let enough = pages + tables <= self.frames.left();
        enough.then_some(()).ok_or(Errno::NoMemory)
    }
}

static MEMORY: SpinLock<Option<Memory>> = SpinLock::new(None);

/// What [`start`] set aside.
pub struct Shares {
    /// The exchange heap: physical addresses, mapped one to one.
    pub exchange: Range<usize>,
    /// Bytes of the kernel's heap.
    pub heap: usize,
    /// Bytes left for processes.
    pub processes: usize,
}

/// Takes over the memory: `free` of it may be used, `ram` says what there is.
///
/// # Safety
/// Called once, before anything is allocated; nobody else uses `free`.
pub unsafe fn start(free: Range<usize>, ram: impl Iterator<Item = RamRange>) -> Option<Shares> {
    let whole = free.len();
    let mut frames = Frames::new(free);
    let heap = frames.carve(whole / HEAP_SHARE)?;
    let exchange = frames.carve(whole / EXCHANGE_SHARE)?;
    let tables = map::kernel(&mut frames, ram)?;
    // SAFETY: the new tables map the kernel, its stack and all memory as the old ones do.
    unsafe { tables.activate() };
    // SAFETY: carved out for the heap, and mapped.
    unsafe { heap::start(heap.clone()) };
    let shares = Shares {
        heap: heap.len(),
        exchange,
        processes: frames.left() * FRAME,
    };
    *MEMORY.lock() = Some(Memory {
        frames,
        tables,
        ranges: Ranges::new(SPACE),
    });
    Some(shares)
}

/// Runs `work` on the memory.
fn with<T>(work: impl FnOnce(&mut Memory) -> Result<T, Errno>) -> Result<T, Errno> {
    match MEMORY.lock().as_mut() {
        Some(memory) => work(memory),
        None => Err(Errno::NoMemory),
    }
}

/// Bytes that processes may still get.
pub fn left() -> usize {
    with(|memory| Ok(memory.frames.left() * FRAME)).unwrap_or(0)
}

/// Reserves address space without any page.
pub fn reserve(bytes: usize) -> Result<NonNull<u8>, Errno> {
    let start = with(|memory| memory.ranges.take(bytes).ok_or(Errno::NoMemory))?;
    NonNull::new(with_exposed_provenance_mut(start)).ok_or(Errno::NoMemory)
}

/// Gives a reservation back, with its pages.
///
/// # Safety
/// It came from [`reserve`] with as many bytes, and nobody uses it any more.
pub unsafe fn release(start: usize, bytes: usize) {
    let released = with(|memory| {
        // SAFETY: the caller's promise; ranges are whole tables, so nobody else's page goes.
        unsafe {
            memory.tables.clear(&mut memory.frames, start, bytes);
            memory
                .tables
                .prune(&mut memory.frames, start, ranges::rounded(bytes));
        }
        memory.ranges.give(start, bytes);
        Ok(())
    });
    debug_assert!(released.is_ok());
}

/// Gives pages other rights; pages that had none get zeroed frames. All of them or, on an error, none.
///
/// # Safety
/// The range lies in one reservation, and nobody relies on its former rights.
pub unsafe fn protect(start: usize, bytes: usize, rights: Rights) -> Result<(), Errno> {
    with(|memory| {
        if rights == Rights::None {
            // SAFETY: the caller's promise.
            unsafe { memory.tables.hide(start, bytes) };
            return Ok(());
        }
        let new = pages(start, bytes).filter(|&page| memory.tables.leaf(page).is_none());
        let new = new.count();
        memory.require(new, bytes)?;
        for page in pages(start, bytes) {
            let leaf = match memory.tables.leaf(page) {
                Some(leaf) => leaf,
                None => Leaf::private(memory.frames.take_zeroed().ok_or(Errno::NoMemory)?),
            };
            // SAFETY: the caller's promise.
            unsafe { memory.tables.set(&mut memory.frames, page, leaf.with(rights)) }?;
        }
        Ok(())
    })
}

/// Takes pages away: every access faults again.
///
/// # Safety
/// The range lies in one reservation, and nobody uses it any more.
pub unsafe fn clear(start: usize, bytes: usize) -> Result<(), Errno> {
    with(|memory| {
        // SAFETY: the caller's promise.
        unsafe { memory.tables.clear(&mut memory.frames, start, bytes) };
        Ok(())
    })
}

/// Maps frames that belong to somebody else in place of what stands there.
///
/// # Safety
/// As for [`clear`]; the frames from `physical` on stay where they are as long as they are mapped.
pub unsafe fn share(start: usize, physical: u64, bytes: usize, rights: Rights) -> Result<(), Errno> {
    with(|memory| {
        memory.require(0, bytes)?;
        // SAFETY: the caller's promise.
        unsafe { memory.tables.clear(&mut memory.frames, start, bytes) };
        for (page, frame) in pages(start, bytes).zip((physical..).step_by(FRAME)) {
            let leaf = Leaf::shared(frame).with(rights);
            // SAFETY: the caller's promise.
            unsafe { memory.tables.set(&mut memory.frames, page, leaf) }?;
        }
        Ok(())
    })
}

fn pages(start: usize, bytes: usize) -> impl Iterator<Item = usize> {
    (start..start + bytes).step_by(FRAME)
}
