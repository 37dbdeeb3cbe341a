//! One 64-bit word of a region, as an atomic that keeps its region alive.
//!
//! Position and alignment are checked when it is made, so that loads and stores cannot fail. The rings and
//! doorbells of `interconnect/link` are built of such words; `region.rs` is the memory they lie in.

use crate::{OutOfRange, Region};
use core::sync::atomic::{AtomicU64, Ordering};

/// An atomic word of a region.
#[derive(Clone)]
pub struct Word {
    region: Region,
    offset: usize,
}

impl Word {
    /// The word at `offset`, which must be a multiple of 8 within the region.
    pub fn new(region: &Region, offset: usize) -> Result<Word, OutOfRange> {
        region.atomic(offset)?;
        Ok(Word {
            region: region.clone(),
            offset,
        })
    }

    #[inline]
    fn atomic(&self) -> &AtomicU64 {
        // SAFETY: `new` checked offset and alignment, and the region cannot shrink.
        unsafe { &*self.region.base().add(self.offset).cast::<AtomicU64>() }
    }

    /// Loads it.
    #[inline]
    pub fn load(&self, order: Ordering) -> u64 {
        self.atomic().load(order)
    }

    /// Stores it.
    #[inline]
    pub fn store(&self, value: u64, order: Ordering) {
        self.atomic().store(value, order);
    }
}
