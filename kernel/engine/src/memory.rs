//! Linear memory: a reservation of 4 GiB and a guard, of which the kernel commits the lower part and maps
//! pages into the upper one, the window (DESIGN §5).
//!
//! A process has one; each of its threads is a Wasm instance over the same pages.

use crate::machine::{Protection, cpu, machine};
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use core::ptr::{NonNull, null};
use satrap_abi::Errno;
use satrap_abi::artifact::engine::{MEMORY_GUARD, MEMORY_RESERVATION};
use satrap_abi::limits::WINDOW_START;
use satrap_kernel::engine::{Access, LinearMemory};
use satrap_region::Region;
use satrap_sync::SpinLock;
use wasmtime::{MemoryCreator, MemoryType};

const RESERVATION: usize = MEMORY_RESERVATION as usize;
const WHOLE: usize = RESERVATION + MEMORY_GUARD as usize;

/// Address space of one memory. Freed with the last region that views it.
struct Reservation(NonNull<u8>);

// SAFETY: an address range; what may be done with it goes through `ProcessMemory` and `Region`.
unsafe impl Send for Reservation {}
// SAFETY: as above.
unsafe impl Sync for Reservation {}

impl Drop for Reservation {
    fn drop(&mut self) {
        // SAFETY: reserved by `ProcessMemory::new`; instances and regions keep it alive as long as they live.
        unsafe { machine().release(self.0, WHOLE) };
    }
}

/// The linear memory of a process.
pub struct ProcessMemory {
    region: Region,
    /// Bytes from the start that are accessible.
    committed: SpinLock<u64>,
}

impl ProcessMemory {
    /// A memory without any accessible page.
    pub(crate) fn new() -> Result<ProcessMemory, Errno> {
        let base = machine().reserve(WHOLE)?;
        let owner = Arc::new(Reservation(base));
        // SAFETY: the reservation lives as long as its owner, and nobody makes references to its bytes. The
        // kernel keeps away from what it has not committed or mapped (`LinearMemory`'s contract).
        let region = unsafe { Region::from_raw(base, RESERVATION, None, owner) };
        Ok(ProcessMemory {
            region,
            committed: SpinLock::new(0),
        })
    }

    /// The address `at`, if `bytes` from there on are whole pages below `end`.
    pub(crate) fn pages(&self, at: u64, bytes: u64, end: u64) -> Result<NonNull<u8>, Errno> {
        let page = machine().page_size() as u64;
        let inside = at.checked_add(bytes).is_some_and(|last| last <= end);
        if !inside || !at.is_multiple_of(page) || !bytes.is_multiple_of(page) || bytes == 0 {
            return Err(Errno::Invalid);
        }
        NonNull::new(self.region.base().wrapping_add(at as usize)).ok_or(Errno::Invalid)
    }

    fn window(&self, at: u32, length: u32) -> Result<NonNull<u8>, Errno> {
        if at < WINDOW_START {
            return Err(Errno::Invalid);
        }
        self.pages(at.into(), length.into(), MEMORY_RESERVATION)
    }
}

impl LinearMemory for ProcessMemory {
    fn region(&self) -> &Region {
        &self.region
    }

    fn commit(&self, bytes: u64) -> Result<(), Errno> {
        let mut committed = self.committed.lock();
        if bytes <= *committed {
            return Ok(());
        }
        let more = bytes - *committed;
        let start = self.pages(*committed, more, WINDOW_START.into())?;
        // SAFETY: within our reservation; these pages were inaccessible, so nobody relied on them.
        unsafe { machine().protect(start, more as usize, Protection::ReadWrite) }?;
        *committed = bytes;
        Ok(())
    }

    fn map(&self, at: u32, source: &Region, length: u32, access: Access) -> Result<(), Errno> {
        let start = self.window(at, length)?;
        let backing = source.backing().ok_or(Errno::Unsupported)?;
        let from = NonNull::new(source.base()).ok_or(Errno::Invalid)?;
        if length as usize > source.len() {
            return Err(Errno::Invalid);
        }
        // SAFETY: within our reservation's window, where the kernel says what stands; guests that still use
        // a former mapping there lose it, which is what the kernel asked for. A region is mapped as long as it
        // lives, and it says itself what its backing is.
        unsafe { machine().map(start, from, backing, length as usize, access) }
    }

    fn unmap(&self, at: u32, length: u32) {
        let reset = self.window(at, length).and_then(|start| {
            // SAFETY: as in `map`.
            unsafe { machine().reset(start, length as usize, Protection::None) }
        });
        // Going on would leave a guest with pages that are somebody else's by now.
        assert!(
            reset.is_ok(),
            "cannot unmap {length:#x} bytes at {at:#x}: {reset:?}"
        );
    }
}

/// Runs `instantiate`, which makes one instance, and gives that instance `memory`.
pub(crate) fn lend<T>(memory: &Arc<ProcessMemory>, instantiate: impl FnOnce() -> T) -> T {
    // Kernel code neither is preempted nor suspends here, so it is this CPU's word that the creator reads.
    cpu().memory.set(Arc::as_ptr(memory));
    let result = instantiate();
    cpu().memory.set(null());
    result
}

/// Gives each new instance the memory that [`lend`] holds out.
pub(crate) struct Memories;

// SAFETY: the memory is a reservation of the size that the configuration asks for, with its guard.
unsafe impl MemoryCreator for Memories {
    fn new_memory(
        &self,
        _: MemoryType,
        minimum: usize,
        _: Option<usize>,
        reservation: Option<usize>,
        guard: usize,
    ) -> Result<Box<dyn wasmtime::LinearMemory>, String> {
        if reservation != Some(RESERVATION) || guard > MEMORY_GUARD as usize {
            return Err("the artifact was compiled for memories of another layout".to_owned());
        }
        let lent = cpu().memory.replace(null());
        if lent.is_null() {
            return Err("an instance asks for a second memory".to_owned());
        }
        // SAFETY: `lend` borrows the `Arc` until the instance is made, so it is alive here.
        let memory = unsafe {
            Arc::increment_strong_count(lent);
            Arc::from_raw(lent)
        };
        Ok(Box::new(InstanceMemory { memory, minimum }))
    }
}

/// One instance's view of its process's memory. Its size stays what it was at first: the kernel owns the true
/// one, and compiled code never asks for it.
struct InstanceMemory {
    memory: Arc<ProcessMemory>,
    minimum: usize,
}

// SAFETY: the bytes stay where they are as long as the memory lives; it is never grown by wasmtime.
unsafe impl wasmtime::LinearMemory for InstanceMemory {
    fn byte_size(&self) -> usize {
        self.minimum
    }

    fn byte_capacity(&self) -> usize {
        RESERVATION
    }

    fn grow_to(&mut self, _: usize) -> wasmtime::Result<()> {
        Err(wasmtime::Error::msg("linear memory is grown by the kernel"))
    }

    fn as_ptr(&self) -> *mut u8 {
        self.memory.region.base()
    }
}
