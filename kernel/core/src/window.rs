//! The window: the upper half of a process's 4 GiB, where pools and mapped blocks appear (DESIGN §5).
//!
//! Kernel calls touch it on the process's behalf only where it allows them. `calls/pool.rs` and
//! `calls/block.rs` map into it; the memory behind is the engine's (`engine.rs`).

use crate::{
    engine::{Access, LinearMemory},
    heap::PAGE,
};
use alloc::collections::BTreeMap;
use satrap_abi::{Errno, limits::WINDOW_START};
use satrap_region::Region;

/// Unmapped space kept between two mappings, so that running off one traps.
const GAP: u64 = PAGE as u64;
/// End of the address space, less a page: an address and its length never wrap.
const END: u64 = (1 << 32) - PAGE as u64;

/// What is mapped in one process's window.
#[derive(Default)]
pub(crate) struct Window {
    mapped: BTreeMap<u32, Mapping>,
}

struct Mapping {
    length: u32,
    access: Access,
}

impl Window {
    /// Maps the pages of `source` at a free place and returns its address.
    pub(crate) fn map(
        &mut self,
        memory: &impl LinearMemory,
        source: &Region,
        access: Access,
    ) -> Result<u32, Errno> {
        let length = u32::try_from(source.len()).map_err(|_| Errno::TooLarge)?;
        let at = self.place(length).ok_or(Errno::NoMemory)?;
        memory.map(at, source, length, access)?;
        self.mapped.insert(at, Mapping { length, access });
        Ok(at)
    }

    /// First fit.
    fn place(&self, length: u32) -> Option<u32> {
        let mut at = u64::from(WINDOW_START);
        for (&start, mapping) in &self.mapped {
            if at + u64::from(length) + GAP <= u64::from(start) {
                break;
            }
            at = u64::from(start) + u64::from(mapping.length) + GAP;
        }
        (at + u64::from(length) <= END).then_some(at as u32)
    }

    /// Takes the mapping at `at` away.
    pub(crate) fn unmap(&mut self, memory: &impl LinearMemory, at: u32) {
        if let Some(mapping) = self.mapped.remove(&at) {
            memory.unmap(at, mapping.length);
        }
    }

    /// Whether `length` bytes at `address` lie in one mapping that allows `access`.
    pub(crate) fn allows(&self, address: u32, length: u32, access: Access) -> bool {
        let Some((&start, mapping)) = self.mapped.range(..=address).next_back() else {
            return false;
        };
        let within = u64::from(address) + u64::from(length) <= u64::from(start) + u64::from(mapping.length);
        within && (access == Access::ReadOnly || mapping.access == Access::ReadWrite)
    }
}
