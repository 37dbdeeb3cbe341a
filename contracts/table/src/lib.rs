//! Contract tables: what the kernel enforces at every endpoint (DESIGN §5).
//!
//! A table is the compact form of a contract: which side may send which message in which state, and what
//! each message may carry. Principles: parsing believes nothing (a guest supplies the bytes), a step is one
//! lookup in a dense matrix, and the digest covers the table itself, so two sides whose digests agree run
//! the same table. Neighbours: `contracts/compiler` writes tables, `kernel/core` runs them.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod difference;
mod entry;
mod format;
mod rule;
mod table;

pub use difference::first_difference;
pub use entry::{Entries, Entry, encode_entry, entries};
pub use format::{MESSAGES_MAX, STATES_MAX, Spec, StateSpec, TableError, TransitionSpec};
pub use rule::{BufferRule, HandleKind, MessageRule};
pub use table::{Side, Table, Violation};
