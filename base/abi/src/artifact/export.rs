//! Names that a rewritten module exports. Everything below `satrap:` is the installer's; a program that
//! exports such a name itself is refused.

/// Prefix reserved for the installer.
pub const RESERVED: &str = "satrap:";
/// The linear memory; every artifact has exactly one, with no maximum declared (the kernel owns its limits).
pub const MEMORY: &str = "memory";
/// The stack pointer: a mutable `i32` global ([`Header::stack_pointer`](super::Header::stack_pointer)).
pub const STACK: &str = "satrap:stack";
/// Table 0, if it holds functions ([`Header::table`](super::Header::table)).
pub const TABLE: &str = "satrap:table";
/// The start function `() -> ()`, to be called once, before the entry ([`Header::start`](super::Header::start)).
pub const START: &str = "satrap:start";
/// A function `() -> ()` that does nothing but trap ([`Header::trap_offset`](super::Header::trap_offset)).
pub const TRAP: &str = "satrap:trap";
/// Entry of a further thread, `(function: i32, argument: i32) -> ()`.
pub const THREAD: &str = "satrap_thread";
