//! Address space: which ranges are free. Ranges are multiples of what one page table maps, so that a range owns
//! its tables; neighbours that are free become one.

use super::tables::LARGE_PAGE;
use alloc::collections::BTreeMap;
use core::ops::Range;

/// Free ranges: end by start, disjoint, no two adjacent.
pub struct Ranges {
    free: BTreeMap<usize, usize>,
}

/// Bytes that a reservation really has.
pub fn rounded(bytes: usize) -> usize {
    bytes.next_multiple_of(LARGE_PAGE)
}

impl Ranges {
    /// One free range.
    pub fn new(whole: Range<usize>) -> Ranges {
        Ranges {
            free: BTreeMap::from([(whole.start, whole.end)]),
        }
    }

    /// Takes a range of at least `bytes`: the first that is large enough.
    pub fn take(&mut self, bytes: usize) -> Option<usize> {
        let bytes = rounded(bytes);
        let (&start, &end) = self.free.iter().find(|(start, end)| *end - *start >= bytes)?;
        self.free.remove(&start);
        if end > start + bytes {
            self.free.insert(start + bytes, end);
        }
        Some(start)
    }

    /// Gives a range back that [`Ranges::take`] gave out for as many bytes.
    pub fn give(&mut self, start: usize, bytes: usize) {
        let (mut start, mut end) = (start, start + rounded(bytes));
        if let Some((&before, &behind)) = self.free.range(..start).next_back()
            && behind == start
        {
            self.free.remove(&before);
            start = before;
        }
        if let Some(behind) = self.free.remove(&end) {
            end = behind;
        }
        self.free.insert(start, end);
    }
}
