//! Blocks of the exchange heap. A block has one owner; a message moves it to another (Helios §3.6), without
//! a copy inside a satellite and with one between two.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use satrap_abi::Errno;

use crate::Error;
use crate::handle::Handle;
use crate::raw::{self, calls, view::View};

/// An owned block, freed when it is dropped.
#[derive(Debug)]
pub struct Block {
    handle: Handle,
    /// 0 until somebody wants to know: who passes a block on unread never does.
    len: AtomicU32,
}

impl Block {
    /// A zeroed block of exactly `len` bytes, 1 to 256 MiB.
    pub fn alloc(len: usize) -> Result<Block, Error> {
        let size = u32::try_from(len).map_err(|_| Errno::TooLarge)?;
        let handle = Handle::new(calls::check(raw::block_alloc(size))?);
        let len = AtomicU32::new(size);
        Ok(Block { handle, len })
    }

    /// A block with these bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Block, Error> {
        let mut block = Block::alloc(bytes.len())?;
        block.write(0, bytes)?;
        Ok(block)
    }

    /// Takes over a kernel handle. If it is not a block's, the block is empty and every access fails.
    #[inline]
    pub fn from_raw(handle: u32) -> Block {
        Block {
            handle: Handle::new(handle),
            len: AtomicU32::new(0),
        }
    }

    /// Gives up the handle, so that a message can carry it away.
    #[inline]
    pub fn into_raw(self) -> u32 {
        self.handle.release()
    }

    /// Length in bytes, as allocated.
    pub fn len(&self) -> usize {
        let known = self.len.load(Relaxed);
        if known > 0 {
            return known as usize;
        }
        let len = calls::check(raw::block_len(self.handle.number())).unwrap_or(0);
        self.len.store(len, Relaxed);
        len as usize
    }

    /// Whether there is nothing to read; never true of an allocated block.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Copies bytes in, at `offset`.
    pub fn write(&mut self, offset: usize, bytes: &[u8]) -> Result<(), Error> {
        Ok(calls::block_write(
            self.handle.number(),
            position(offset)?,
            bytes,
        )?)
    }

    /// Copies bytes out, from `offset`.
    pub fn read(&self, offset: usize, into: &mut [u8]) -> Result<(), Error> {
        Ok(calls::block_read(self.handle.number(), position(offset)?, into)?)
    }

    /// A copy of the whole block.
    pub fn to_vec(&self) -> Result<Vec<u8>, Error> {
        let mut bytes = vec![0; self.len()];
        self.read(0, &mut bytes)?;
        Ok(bytes)
    }

    /// Maps the block into the process's window, where it is read and written in place. Worth it above some
    /// hundred kilobytes; below, copying is cheaper, and below a page (4 KiB) there is nothing to map.
    pub fn map(self) -> Result<MappedBlock, Error> {
        let address = calls::block_map(self.handle.number())?;
        // I3: the kernel just mapped the block there, and `MappedBlock` keeps it.
        let view = View::new(address, self.len())?;
        Ok(MappedBlock { view, block: self })
    }
}

/// A block that is mapped: a slice of bytes.
#[derive(Debug)]
pub struct MappedBlock {
    view: View,
    block: Block,
}

impl MappedBlock {
    /// The block again, to be sent. The kernel takes the mapping back when the block leaves.
    pub fn into_block(self) -> Block {
        self.block
    }
}

impl Deref for MappedBlock {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.view.bytes()
    }
}

impl DerefMut for MappedBlock {
    fn deref_mut(&mut self) -> &mut [u8] {
        self.view.bytes_mut()
    }
}

fn position(offset: usize) -> Result<u32, Errno> {
    u32::try_from(offset).map_err(|_| Errno::Invalid)
}
