//! The exchange heap: memory for message payloads, in blocks with exactly one owner each (Helios §3.1).
//!
//! A buddy allocator over the heap part of the satellite's export. Its books lie in private memory, so that a
//! peer which reads the export finds payloads only. A [`Block`] frees itself when its owner drops it; moving
//! the value is moving the ownership, which is what makes a second owner impossible.

use alloc::{collections::BTreeSet, sync::Arc, vec::Vec};
use satrap_abi::{Errno, limits::BLOCK_MAX};
use satrap_region::Region;
use satrap_sync::SpinLock;

/// Smallest block: one cache line.
const MIN_ORDER: u32 = 6;
/// Blocks of a page or more are page-aligned, so that they can be mapped.
pub(crate) const PAGE: usize = 4096;

/// A satellite's exchange heap.
pub struct ExchangeHeap {
    region: Region,
    buddies: SpinLock<Buddies>,
}

/// Free ranges by order; a range of order `n` has `1 << n` bytes and is aligned to as many.
struct Buddies {
    free: Vec<BTreeSet<u64>>,
    used: u64,
}

impl ExchangeHeap {
    /// A heap over `region`.
    pub fn new(region: Region) -> Arc<ExchangeHeap> {
        let mut buddies = Buddies {
            free: Vec::new(),
            used: 0,
        };
        buddies.free.resize_with(64, BTreeSet::new);
        let (mut start, end) = (0u64, region.len() as u64);
        while end - start >= 1 << MIN_ORDER {
            let fits = 63 - (end - start).leading_zeros();
            let order = if start == 0 {
                fits
            } else {
                fits.min(start.trailing_zeros())
            };
            buddies.free[order as usize].insert(start);
            start += 1 << order;
        }
        Arc::new(ExchangeHeap {
            region,
            buddies: SpinLock::new(buddies),
        })
    }

    /// Bytes handed out, roundings included.
    pub fn used(&self) -> u64 {
        self.buddies.lock().used
    }

    /// A zeroed block, so that nothing of its last owner is seen.
    pub fn alloc(self: &Arc<Self>, len: u32) -> Result<Block, Errno> {
        let block = self.alloc_for_overwrite(len)?;
        // A block is within the region by construction, here and below.
        let _ = self.region.fill(block.offset as usize, len as usize, 0);
        Ok(block)
    }

    /// A block whose bytes the caller overwrites at once: zeroing it would be wasted (Helios §3.6).
    ///
    /// # Errors
    /// [`Errno::TooLarge`], [`Errno::NoMemory`].
    pub fn alloc_for_overwrite(self: &Arc<Self>, len: u32) -> Result<Block, Errno> {
        if len > BLOCK_MAX {
            return Err(Errno::TooLarge);
        }
        let order = order_of(len);
        let offset = self.buddies.lock().take(order).ok_or(Errno::NoMemory)?;
        Ok(Block {
            heap: self.clone(),
            offset,
            len,
            order,
        })
    }
}

/// The order of the range that a block of so many bytes takes.
fn order_of(len: u32) -> u32 {
    u64::from(len.max(1))
        .next_power_of_two()
        .trailing_zeros()
        .max(MIN_ORDER)
}

/// Bytes of the heap that a block of `len` bytes takes.
pub(crate) fn footprint_of(len: u32) -> u64 {
    1 << order_of(len)
}

impl Buddies {
    fn take(&mut self, order: u32) -> Option<u64> {
        let from = (order..64).find(|&o| !self.free[o as usize].is_empty())?;
        let offset = self.free[from as usize].pop_first()?;
        for half in order..from {
            self.free[half as usize].insert(offset + (1 << half));
        }
        self.used += 1 << order;
        Some(offset)
    }

    fn give(&mut self, mut offset: u64, mut order: u32) {
        self.used -= 1 << order;
        while order < 63 && self.free[order as usize].remove(&(offset ^ (1 << order))) {
            offset &= !(1 << order);
            order += 1;
        }
        self.free[order as usize].insert(offset);
    }
}

/// A block of the exchange heap, owned by whoever holds the value.
pub struct Block {
    heap: Arc<ExchangeHeap>,
    offset: u64,
    len: u32,
    order: u32,
}

impl Block {
    /// Its length in bytes.
    #[inline]
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// What it takes from the heap, in bytes.
    #[inline]
    pub(crate) fn footprint(&self) -> u64 {
        1 << self.order
    }

    /// Where it lies in the heap.
    #[inline]
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Copies bytes out of it.
    pub fn read(&self, offset: u32, into: &mut [u8]) -> Result<(), Errno> {
        self.check(offset, into.len() as u64)?;
        self.heap
            .region
            .read((self.offset + u64::from(offset)) as usize, into)
            .map_err(|_| Errno::Invalid)
    }

    /// Copies bytes into it.
    pub fn write(&self, offset: u32, bytes: &[u8]) -> Result<(), Errno> {
        self.check(offset, bytes.len() as u64)?;
        self.heap
            .region
            .write((self.offset + u64::from(offset)) as usize, bytes)
            .map_err(|_| Errno::Invalid)
    }

    /// Its bytes at `offset`, for a driver whose device reads or writes them in place. The block must outlive
    /// the use of it.
    ///
    /// # Errors
    /// [`Errno::Invalid`] outside the block.
    pub fn region(&self, offset: u32, len: u32) -> Result<Region, Errno> {
        self.check(offset, u64::from(len))?;
        self.heap
            .region
            .part((self.offset + u64::from(offset)) as usize, len as usize)
            .map_err(|_| Errno::Invalid)
    }

    /// Copies `len` bytes at `offset` to another region.
    pub(crate) fn copy_to(&self, offset: u32, to: &Region, at: usize, len: u32) -> Result<(), Errno> {
        self.check(offset, u64::from(len))?;
        let from = (self.offset + u64::from(offset)) as usize;
        self.heap
            .region
            .copy_to(from, to, at, len as usize)
            .map_err(|_| Errno::BadPointer)
    }

    /// Copies `len` bytes of another region to `offset`.
    pub(crate) fn copy_from(&self, offset: u32, from: &Region, at: usize, len: u32) -> Result<(), Errno> {
        self.check(offset, u64::from(len))?;
        let to = (self.offset + u64::from(offset)) as usize;
        from.copy_to(at, &self.heap.region, to, len as usize)
            .map_err(|_| Errno::BadPointer)
    }

    fn check(&self, offset: u32, len: u64) -> Result<(), Errno> {
        if u64::from(offset) + len <= u64::from(self.len) {
            Ok(())
        } else {
            Err(Errno::Invalid)
        }
    }

    /// Its pages, if it is at least a page: what a platform maps into a window.
    pub(crate) fn pages(&self) -> Result<Region, Errno> {
        if self.footprint() < PAGE as u64 {
            return Err(Errno::Invalid);
        }
        let len = (self.len as usize).next_multiple_of(PAGE);
        self.heap
            .region
            .part(self.offset as usize, len)
            .map_err(|_| Errno::Invalid)
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        self.heap.buddies.lock().give(self.offset, self.order);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn freed_blocks_grow_together_again() {
        let heap = ExchangeHeap::new(Region::from_heap(1 << 16));
        let blocks: Vec<Block> = core::iter::from_fn(|| heap.alloc(100).ok()).collect();
        assert_eq!(blocks.len(), 512);
        assert!(heap.alloc(1).is_err());
        drop(blocks);
        assert_eq!(heap.used(), 0);
        assert!(heap.alloc(1 << 16).is_ok());
    }

    #[test]
    fn a_new_block_shows_nothing_of_its_last_owner() {
        let heap = ExchangeHeap::new(Region::from_heap(4096));
        heap.alloc(64).unwrap().write(0, b"secret").unwrap();
        let mut bytes = [1; 6];
        heap.alloc(64).unwrap().read(0, &mut bytes).unwrap();
        assert_eq!(bytes, [0; 6]);
    }

    #[test]
    fn an_access_past_the_end_of_a_block_is_refused() {
        let heap = ExchangeHeap::new(Region::from_heap(4096));
        let block = heap.alloc(100).unwrap();
        assert_eq!(block.write(99, &[1, 2]), Err(Errno::Invalid));
        assert_eq!(block.write(u32::MAX, &[1]), Err(Errno::Invalid));
    }
}
