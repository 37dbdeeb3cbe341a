//! A power of two of 64-byte lines of a region, checked once so that each access is a bare load or store.
//!
//! Rings between satellites stand on it (`interconnect/link`). Out of range does not exist here: a line's
//! number is taken modulo the count of lines, a word's number modulo eight.

use crate::{OutOfRange, Region};
use core::{
    ptr::NonNull,
    sync::atomic::{AtomicU64, Ordering},
};

/// Bytes of a line: the unit in which coherent memory travels between cores.
pub const LINE: usize = 64;
/// 64-bit words of a line.
pub const LINE_WORDS: usize = LINE / size_of::<u64>();

/// Lines of a region, as atomic words that keep the region alive.
#[derive(Clone)]
pub struct Lines {
    first: NonNull<AtomicU64>,
    mask: usize,
    /// Keeps `first` mapped.
    _region: Region,
}

// SAFETY: the words are atomics, and the region that keeps them alive is Send and Sync.
unsafe impl Send for Lines {}
// SAFETY: as above.
unsafe impl Sync for Lines {}

impl Lines {
    /// `count` lines from `offset` on. `count` must be a power of two, the first byte aligned to [`LINE`],
    /// the last within the region.
    pub fn new(region: &Region, offset: usize, count: usize) -> Result<Lines, OutOfRange> {
        let bytes = count.checked_mul(LINE).ok_or(OutOfRange)?;
        let part = region.part(offset, bytes)?;
        if !count.is_power_of_two() || !part.base().addr().is_multiple_of(LINE) {
            return Err(OutOfRange);
        }
        let first = NonNull::new(part.base().cast::<AtomicU64>()).ok_or(OutOfRange)?;
        Ok(Lines {
            first,
            mask: count - 1,
            _region: part,
        })
    }

    /// How many lines; a power of two.
    pub fn count(&self) -> usize {
        self.mask + 1
    }

    #[inline(always)]
    fn atomic(&self, line: usize, word: usize) -> &AtomicU64 {
        let index = (line & self.mask) * LINE_WORDS + (word & (LINE_WORDS - 1));
        // SAFETY: the masks keep `index` within the range that `new` checked, the region keeps it mapped,
        // and atomics tolerate foreign writers.
        unsafe { self.first.add(index).as_ref() }
    }

    /// Loads word `word & 7` of line `line & (count - 1)`.
    #[inline(always)]
    pub fn load(&self, line: usize, word: usize, order: Ordering) -> u64 {
        self.atomic(line, word).load(order)
    }

    /// Stores word `word & 7` of line `line & (count - 1)`.
    #[inline(always)]
    pub fn store(&self, line: usize, word: usize, value: u64, order: Ordering) {
        self.atomic(line, word).store(value, order);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_must_be_aligned_a_power_of_two_and_inside() {
        let region = Region::from_heap(5 * LINE);
        assert!(Lines::new(&region, LINE, 4).is_ok());
        assert!(Lines::new(&region, 8, 1).is_err());
        assert!(Lines::new(&region, 0, 3).is_err());
        assert!(Lines::new(&region, 0, 0).is_err());
        assert!(Lines::new(&region, 2 * LINE, 4).is_err());
        assert!(Lines::new(&region, 0, usize::MAX / 2 + 1).is_err());
    }

    #[test]
    fn numbers_past_the_end_come_round() {
        let lines = Lines::new(&Region::from_heap(2 * LINE), 0, 2).unwrap();
        lines.store(3, 9, 7, Ordering::Relaxed);
        assert_eq!(lines.load(1, 1, Ordering::Relaxed), 7);
    }
}
