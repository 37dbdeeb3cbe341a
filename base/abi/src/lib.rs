//! Every layout that two parties must agree on: ids, errors, the kernel ABI, the control protocol.
//!
//! Principles: plain data only, little-endian, no behaviour beyond packing and checking. Neighbours: the
//! kernel (`kernel/core`) implements the ABI, `sdk/rust` calls it, the coordinator speaks `control`.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod artifact;
pub mod call;
pub mod control;
mod error;
mod id;
pub mod limits;

pub use error::{Errno, ExitStatus, Trap};
pub use id::{BlockId, ChannelId, Digest, KernelId, ProcessId, Slot};
