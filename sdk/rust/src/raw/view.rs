//! Slices over what the kernel has mapped into the window, the upper half of linear memory (DESIGN §5), where
//! Rust's allocator has nothing.
//!
//! Invariant I3: a view's address and length are the kernel's own answer for a block, or for a pool's buffer,
//! that the process owns; and who holds the view holds the block, or the pool's endpoint, for as long. Views
//! are made in `block` and `pool` only, and each place says how it keeps I3.

use satrap_abi::Errno;
use satrap_abi::limits::WINDOW_START;

/// A mapped range of the window.
#[derive(Debug)]
pub(crate) struct View {
    address: u32,
    len: usize,
}

impl View {
    /// The range at `address`, by I3; refused when it does not lie wholly in the window.
    pub fn new(address: u32, len: usize) -> Result<View, Errno> {
        let end = u64::from(address) + len as u64;
        if address < WINDOW_START || end > 1 << 32 {
            return Err(Errno::BadPointer);
        }
        Ok(View { address, len })
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// Narrows the view to its first `len` bytes.
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    pub fn bytes(&self) -> &[u8] {
        // SAFETY: I3; bytes have no invalid values, and while they may be read nobody writes them: a block
        // has one owner, and a buffer is its consumer's until released.
        unsafe { std::slice::from_raw_parts(self.address as usize as *const u8, self.len) }
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: I3; a block has one owner and a buffer one producer, and `self` is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.address as usize as *mut u8, self.len) }
    }
}
