//! A guest's linear memory: one page of heap memory. Nothing can be mapped into it.
//!
//! Kernel calls copy to and from it as they do with a real guest's. `mod.rs` beside it is the engine that
//! hands it out.

use satrap_abi::{Errno, limits::WASM_PAGE};
use satrap_kernel::engine::{Access, LinearMemory};
use satrap_region::Region;

/// A page.
pub struct SimMemory(Region);

impl SimMemory {
    /// A zeroed page.
    pub fn new() -> SimMemory {
        SimMemory(Region::from_heap(WASM_PAGE as usize))
    }
}

impl LinearMemory for SimMemory {
    fn region(&self) -> &Region {
        &self.0
    }

    fn commit(&self, bytes: u64) -> Result<(), Errno> {
        if bytes <= self.0.len() as u64 {
            Ok(())
        } else {
            Err(Errno::NoMemory)
        }
    }

    fn map(&self, _at: u32, _source: &Region, _length: u32, _access: Access) -> Result<(), Errno> {
        Err(Errno::Unsupported)
    }

    fn unmap(&self, _at: u32, _length: u32) {}
}
