//! Frames of physical memory: a list of those given back, threaded through the frames themselves, and the rest,
//! which nobody has touched yet.

use core::ops::Range;
use core::ptr::{with_exposed_provenance_mut, write_bytes};

/// Bytes of a frame and of a page.
pub const FRAME: usize = 4096;

/// Free frames. Memory is mapped one to one, so a frame's address is its pointer.
pub struct Frames {
    untouched: Range<usize>,
    /// The frame given back last, which holds the address of the one before it; 0 for none.
    returned: usize,
    count: usize,
}

impl Frames {
    /// Whole frames of `free`.
    pub fn new(free: Range<usize>) -> Frames {
        let untouched = free.start.next_multiple_of(FRAME)..free.end & !(FRAME - 1);
        Frames {
            count: untouched.len() / FRAME,
            untouched,
            returned: 0,
        }
    }

    /// How many frames are free.
    pub fn left(&self) -> usize {
        self.count
    }

    /// Takes `bytes` of adjacent frames, rounded down; only from what was never given out.
    pub fn carve(&mut self, bytes: usize) -> Option<Range<usize>> {
        let bytes = bytes & !(FRAME - 1);
        let start = self.untouched.start;
        if bytes == 0 || bytes > self.untouched.len() {
            return None;
        }
        self.untouched.start += bytes;
        self.count -= bytes / FRAME;
        Some(start..start + bytes)
    }

    /// Takes a frame filled with zeroes.
    pub fn take_zeroed(&mut self) -> Option<u64> {
        let frame = match self.returned {
            0 if self.untouched.is_empty() => return None,
            0 => {
                let frame = self.untouched.start;
                self.untouched.start += FRAME;
                frame
            }
            frame => {
                // SAFETY: a frame on the list is nobody's, and `give` wrote this word.
                self.returned = unsafe { with_exposed_provenance_mut::<usize>(frame).read() };
                frame
            }
        };
        self.count -= 1;
        // SAFETY: a free frame is nobody's.
        unsafe { write_bytes(with_exposed_provenance_mut::<u8>(frame), 0, FRAME) };
        Some(frame as u64)
    }

    /// Gives a frame back.
    ///
    /// # Safety
    /// It came from [`Frames::take_zeroed`], and nobody uses it any more.
    pub unsafe fn give(&mut self, frame: u64) {
        // SAFETY: by the caller's promise the frame is nobody's.
        unsafe { with_exposed_provenance_mut::<usize>(frame as usize).write(self.returned) };
        self.returned = frame as usize;
        self.count += 1;
    }
}
