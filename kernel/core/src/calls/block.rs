//! Blocks: payload memory with one owner.
//!
//! Every call names a handle and a range of the caller's memory, and both are checked before anything
//! happens. `heap.rs` is the memory itself; `window.rs` shows mapped blocks to the process.

use super::CallContext;
use crate::{
    engine::{Access, LinearMemory},
    heap::footprint_of,
    platform::Platform,
    process::Handle,
};
use satrap_abi::{Errno, limits::BLOCK_MAX};

impl<P: Platform> CallContext<P> {
    pub(super) fn alloc_block(&self, length: u32) -> Result<u32, Errno> {
        // Refused before memory is touched: a guest that asks in a loop costs nothing.
        if length > BLOCK_MAX {
            return Err(Errno::TooLarge);
        }
        let limits = &self.process.limits;
        if !self
            .process
            .table
            .lock()
            .has_room(1, footprint_of(length), limits)
        {
            return Err(Errno::LimitReached);
        }
        let block = self.satellite.rmp.heap.alloc(length)?;
        let mut table = self.process.table.lock();
        table
            .insert(Handle::Block(block, None))
            .map_err(|_| Errno::LimitReached)
    }

    pub(super) fn read_block(&self, handle: u32, offset: u32, into: (u32, u32)) -> Result<(), Errno> {
        self.process.check(into.0, into.1, Access::ReadWrite)?;
        let mut table = self.process.table.lock();
        table
            .block(handle)?
            .copy_to(offset, self.process.memory.region(), into.0 as usize, into.1)
    }

    pub(super) fn write_block(&self, handle: u32, offset: u32, from: (u32, u32)) -> Result<(), Errno> {
        self.process.check(from.0, from.1, Access::ReadOnly)?;
        let mut table = self.process.table.lock();
        table
            .block(handle)?
            .copy_from(offset, self.process.memory.region(), from.0 as usize, from.1)
    }

    pub(super) fn map_block(&self, handle: u32) -> Result<u32, Errno> {
        let mut table = self.process.table.lock();
        let Handle::Block(block, mapped) = table.get_mut(handle)? else {
            return Err(Errno::BadHandle);
        };
        if let Some(at) = *mapped {
            return Ok(at);
        }
        let pages = block.pages()?;
        let mut window = self.process.window.lock();
        let at = window.map(&*self.process.memory, &pages, Access::ReadWrite)?;
        *mapped = Some(at);
        Ok(at)
    }
}
