//! What a ring stands on: lines of eight words, one of which travels between cores at a time.
//!
//! The ring algorithm is written once over this trait. An implementation for memory that is not coherent
//! fills the two hooks; the ring calls them for exactly the lines that each side owns (DESIGN §4).

use satrap_region::Lines;
use satrap_sync::Ordering;

/// A power of two of 64-byte lines, readable by two parties and written by one.
///
/// A line's number is taken modulo the count of lines, a word's modulo eight, so that no access can be out of
/// range and none needs a check.
pub trait Memory {
    /// How many lines; a power of two up to 2^16.
    fn lines(&self) -> usize;

    /// Loads a word.
    fn load(&self, line: usize, word: usize, order: Ordering) -> u64;

    /// Stores a word. Only the one writer of the line calls this.
    fn store(&self, line: usize, word: usize, value: u64, order: Ordering);

    /// The writer has finished a line: make it visible to others before anything stored later (write it back,
    /// and wait). Coherent memory has nothing to do.
    #[inline(always)]
    fn publish(&self, line: usize) {
        let _ = line;
    }

    /// The reader is about to look at a line: forget what it cached of it. Coherent memory has nothing to do.
    #[inline(always)]
    fn refresh(&self, line: usize) {
        let _ = line;
    }
}

impl Memory for Lines {
    #[inline(always)]
    fn lines(&self) -> usize {
        self.count()
    }

    #[inline(always)]
    fn load(&self, line: usize, word: usize, order: Ordering) -> u64 {
        Lines::load(self, line, word, order)
    }

    #[inline(always)]
    fn store(&self, line: usize, word: usize, value: u64, order: Ordering) {
        Lines::store(self, line, word, value, order);
    }
}
