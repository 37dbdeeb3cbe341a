//! A bounds-checked view of shared memory.
//!
//! Whoever maps memory hands it over once, with an owner that keeps it mapped; from then on every access is
//! checked here. A peer may write it at any time, so bytes are copied out and never borrowed. `word.rs` is the
//! part of it that is shared by atomics.

use alloc::{boxed::Box, sync::Arc, vec};
use core::{fmt, ptr::NonNull, sync::atomic::AtomicU64};

/// Keeps the memory of a region alive; dropping it gives the memory back.
pub trait Owner: Send + Sync {}

impl<T: Send + Sync> Owner for T {}

/// Where a region's pages come from, so that a platform can map them a second time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Backing {
    /// The platform's name for the memory object: a file descriptor, a physical address.
    pub object: u64,
    /// Offset of the region's first byte in it.
    pub offset: u64,
}

/// A range of memory that others may read and write at any time.
#[derive(Clone)]
pub struct Region {
    base: NonNull<u8>,
    len: usize,
    backing: Option<Backing>,
    owner: Arc<dyn Owner>,
}

// SAFETY: the bytes are only reached by volatile-like copies and atomics; `owner` is Send and Sync.
unsafe impl Send for Region {}
// SAFETY: as above.
unsafe impl Sync for Region {}

/// An access outside a region.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OutOfRange;

impl fmt::Display for OutOfRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("access outside the region")
    }
}

impl core::error::Error for OutOfRange {}

impl Region {
    /// A region over `len` bytes at `base`.
    ///
    /// # Safety
    /// The bytes stay mapped as long as `owner` lives, and nobody makes references to them. Parts may be
    /// inaccessible; then the caller of the copy functions keeps away from them.
    pub unsafe fn from_raw(
        base: NonNull<u8>,
        len: usize,
        backing: Option<Backing>,
        owner: Arc<dyn Owner>,
    ) -> Region {
        Region {
            base,
            len,
            backing,
            owner,
        }
    }

    /// A region of zeroed heap memory, aligned to 64 bytes: for tests and the simulation. What of a large one is
    /// never touched costs nothing.
    pub fn from_heap(len: usize) -> Region {
        const LINE: usize = 64;
        // Bytes, because nothing that is aligned comes as untouched zeroes; a line more of them, to align the start.
        let bytes = vec![0u8; len + LINE].into_boxed_slice();
        let raw = Box::into_raw(bytes);
        struct Freed(*mut [u8]);
        // SAFETY: the pointer is only used to free the allocation.
        unsafe impl Send for Freed {}
        // SAFETY: as above.
        unsafe impl Sync for Freed {}
        impl Drop for Freed {
            fn drop(&mut self) {
                // SAFETY: it came from `Box::into_raw` and is freed once.
                drop(unsafe { Box::from_raw(self.0) });
            }
        }
        let start: *mut u8 = raw.cast();
        // SAFETY: `start` is not null, `Freed` keeps it allocated, and `len` bytes are left behind the alignment,
        // which takes less than the line more.
        unsafe {
            let base = start.add(start.align_offset(LINE));
            Region::from_raw(NonNull::new_unchecked(base), len, None, Arc::new(Freed(raw)))
        }
    }

    /// Length in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Where its pages come from, if the platform can map them again.
    pub fn backing(&self) -> Option<Backing> {
        self.backing
    }

    /// Address of the first byte, for platforms that map or compare; dereferencing is their business.
    #[inline]
    pub fn base(&self) -> *mut u8 {
        self.base.as_ptr()
    }

    /// The part of `len` bytes at `offset`, sharing the owner.
    pub fn part(&self, offset: usize, len: usize) -> Result<Region, OutOfRange> {
        let base = NonNull::new(self.at(offset, len)?).ok_or(OutOfRange)?;
        let backing = self.backing.map(|b| Backing {
            offset: b.offset + offset as u64,
            ..b
        });
        Ok(Region {
            base,
            len,
            backing,
            owner: self.owner.clone(),
        })
    }

    #[inline]
    fn at(&self, offset: usize, len: usize) -> Result<*mut u8, OutOfRange> {
        match offset.checked_add(len) {
            // SAFETY: within the region, hence within one mapping.
            Some(end) if end <= self.len => Ok(unsafe { self.base.as_ptr().add(offset) }),
            _ => Err(OutOfRange),
        }
    }

    pub(crate) fn atomic(&self, offset: usize) -> Result<&AtomicU64, OutOfRange> {
        let address = self.at(offset, 8)?;
        if !address.addr().is_multiple_of(8) {
            return Err(OutOfRange);
        }
        // SAFETY: in range, aligned, and alive as long as `self`; atomics tolerate foreign writers.
        Ok(unsafe { &*address.cast::<AtomicU64>() })
    }

    /// Copies `into.len()` bytes at `offset` out.
    #[inline]
    pub fn read(&self, offset: usize, into: &mut [u8]) -> Result<(), OutOfRange> {
        let from = self.at(offset, into.len())?;
        // SAFETY: `from` is in range; `into` is ours alone and cannot overlap shared memory.
        unsafe { core::ptr::copy_nonoverlapping(from, into.as_mut_ptr(), into.len()) };
        Ok(())
    }

    /// Copies `bytes` in at `offset`.
    #[inline]
    pub fn write(&self, offset: usize, bytes: &[u8]) -> Result<(), OutOfRange> {
        let to = self.at(offset, bytes.len())?;
        // SAFETY: `to` is in range; `bytes` cannot overlap shared memory.
        unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
        Ok(())
    }

    /// Copies little-endian words at `offset` out, at any alignment. For a few words: no call is made.
    #[inline(always)]
    pub fn read_words(&self, offset: usize, into: &mut [u64]) -> Result<(), OutOfRange> {
        let from = self.at(offset, size_of_val(into))?.cast::<u64>();
        for (index, word) in into.iter_mut().enumerate() {
            // SAFETY: in range, and no alignment is asked for.
            *word = u64::from_le(unsafe { from.add(index).read_unaligned() });
        }
        Ok(())
    }

    /// Copies words in at `offset`, little-endian and at any alignment. For a few words: no call is made.
    #[inline(always)]
    pub fn write_words(&self, offset: usize, words: &[u64]) -> Result<(), OutOfRange> {
        let to = self.at(offset, size_of_val(words))?.cast::<u64>();
        for (index, word) in words.iter().enumerate() {
            // SAFETY: in range, and no alignment is asked for.
            unsafe { to.add(index).write_unaligned(word.to_le()) };
        }
        Ok(())
    }

    /// Fills `len` bytes at `offset`.
    #[inline]
    pub fn fill(&self, offset: usize, len: usize, value: u8) -> Result<(), OutOfRange> {
        let to = self.at(offset, len)?;
        // SAFETY: in range.
        unsafe { core::ptr::write_bytes(to, value, len) };
        Ok(())
    }

    /// Copies `len` bytes at `offset` to `to_offset` of another region, or of this one; ranges may overlap.
    #[inline]
    pub fn copy_to(
        &self,
        offset: usize,
        to: &Region,
        to_offset: usize,
        len: usize,
    ) -> Result<(), OutOfRange> {
        let source = self.at(offset, len)?;
        let target = to.at(to_offset, len)?;
        // SAFETY: both are in range; `copy` allows overlap.
        unsafe { core::ptr::copy(source, target, len) };
        Ok(())
    }
}

impl fmt::Debug for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Region({} bytes)", self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_access_past_the_end_is_refused() {
        let region = Region::from_heap(100);
        assert_eq!(region.write(97, &[1, 2, 3]), Ok(()));
        assert_eq!(region.write(98, &[1, 2, 3]), Err(OutOfRange));
        assert_eq!(region.read(usize::MAX, &mut [0; 2]), Err(OutOfRange));
        assert!(region.part(50, 51).is_err());
    }

    #[test]
    fn words_are_read_and_written_at_any_alignment() {
        let region = Region::from_heap(40);
        region.write_words(3, &[0x0102, u64::MAX]).unwrap();
        let mut bytes = [0; 2];
        region.read(3, &mut bytes).unwrap();
        assert_eq!(bytes, [2, 1]);
        let mut words = [0; 2];
        region.read_words(3, &mut words).unwrap();
        assert_eq!(words, [0x0102, u64::MAX]);
        assert_eq!(region.read_words(25, &mut words), Err(OutOfRange));
        assert_eq!(region.write_words(usize::MAX - 3, &words), Err(OutOfRange));
    }

    #[test]
    fn a_copy_moves_bytes_between_regions() {
        let (a, b) = (Region::from_heap(64), Region::from_heap(64));
        a.write(3, b"satrap").unwrap();
        a.copy_to(3, &b, 10, 6).unwrap();
        let mut out = [0; 6];
        b.read(10, &mut out).unwrap();
        assert_eq!(&out, b"satrap");
    }
}
