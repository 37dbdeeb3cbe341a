//! The kernel ABI: the Wasm import module, its functions' shared constants, and the message as a guest sees
//! it in its own memory.
//!
//! Every pointer is a 32-bit offset into linear memory. A call that can fail returns `i32`: 0 or a positive
//! value for success, a negated [`Errno`](crate::Errno) otherwise. `sdk/rust/src/raw.rs` lists the
//! signatures; `kernel/engine` checks them at link time.

use crate::limits::{HANDLES_MAX, INLINE_MAX};

/// The import module, with the ABI's version.
pub const MODULE: &str = "satrap:kernel@1";

/// Custom section in which a program carries the tables of the contracts that it uses.
pub const CONTRACT_SECTION: &str = "satrap.contract";

/// A deadline that never comes. A deadline of 0 asks not to wait at all; others are [`clock_now`] times.
///
/// [`clock_now`]: https://docs.rs/satrap
pub const FOREVER: u64 = u64::MAX;

/// Byte offsets of a message in guest memory. All 96 bytes must be accessible; the kernel reads and writes of
/// them the first 16, the handles that there are, and the inline arguments in whole words.
pub mod message {
    use super::{HANDLES_MAX, INLINE_MAX};

    /// `u16`: which message of the contract.
    pub const TAG: usize = 0;
    /// `u8`: bytes of inline arguments, up to 64.
    pub const INLINE_LEN: usize = 2;
    /// `u8`: how many handles travel, up to 4.
    pub const HANDLE_COUNT: usize = 3;
    /// `u32`: 0, or 1 + the index of a pool buffer that travels.
    pub const BUFFER: usize = 4;
    /// `u32`: where the receiver finds that buffer in its window (written by `recv`).
    pub const BUFFER_ADDRESS: usize = 8;
    /// `u32`: how many bytes of the buffer are meant.
    pub const BUFFER_LEN: usize = 12;
    /// `[u32; 4]`: handles; they leave the sender's table and appear in the receiver's.
    pub const HANDLES: usize = 16;
    /// `[u8; 64]`: inline arguments.
    pub const INLINE: usize = HANDLES + 4 * HANDLES_MAX;
    /// Size of the whole.
    pub const SIZE: usize = INLINE + INLINE_MAX;
}
