//! Limits. Everything has one (STYLE habit 7); reaching it is an exact error or back-pressure.
//!
//! They are named here once, for kernel, coordinator and SDK; those that a manifest may set are in [`Limits`].

use serde::{Deserialize, Serialize};

/// Inline arguments of one message, in bytes: one cache line (DESIGN §5).
pub const INLINE_MAX: usize = 64;
/// Blocks and endpoints that one message can carry.
pub const HANDLES_MAX: usize = 4;
/// Messages that one direction of a channel holds before `send` waits.
pub const CHANNEL_DEPTH: u32 = 64;
/// Longest name in the namespace, in bytes.
pub const NAME_MAX: usize = 255;
/// Longest single block, in bytes.
pub const BLOCK_MAX: u32 = 256 << 20;
/// Longest console line that one call may write, in bytes.
pub const CONSOLE_MAX: usize = 64 << 10;
/// Bytes of a WebAssembly page.
pub const WASM_PAGE: u32 = 64 << 10;
/// First address of the window: pools and mapped blocks appear at and above it (DESIGN §5).
pub const WINDOW_START: u32 = 0x8000_0000;
/// Most pages of linear memory below the window.
pub const HEAP_PAGES_MAX: u32 = WINDOW_START / WASM_PAGE;

/// What one process may use. The manifest's `[process.limits]`; these are the defaults.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Limits {
    /// Linear memory, in bytes.
    pub memory: u64,
    /// Threads, the main one included.
    pub threads: u32,
    /// Endpoints, services and blocks held at once.
    pub handles: u32,
    /// Bytes of exchange heap held at once, blocks in its window included.
    pub exchange: u64,
    /// Names registered at once.
    pub names: u32,
    /// Native stack of each thread, in bytes.
    pub stack: u32,
}

impl Limits {
    /// The stated defaults.
    pub const DEFAULT: Limits = Limits {
        memory: 256 << 20,
        threads: 64,
        handles: 4096,
        exchange: 64 << 20,
        names: 16,
        stack: 256 << 10,
    };
}

impl Default for Limits {
    fn default() -> Limits {
        Limits::DEFAULT
    }
}
