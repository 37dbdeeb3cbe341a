//! The satellite kernel: the same code on every platform (Helios §2.1).
//!
//! It schedules, owns memory, and passes messages; everything else is a process or a driver. Principles: no
//! unsafe code, no `cfg` on the platform, the world is an argument ([`Platform`], [`engine`]), everything has a
//! limit, and what a guest or a peer says is checked once and then trusted. Start reading at [`Satellite`],
//! then `executor.rs`, then `endpoint.rs` and `rmp.rs` for the way of a message.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod calls;
mod cpu;
mod driver;
mod endpoint;
pub mod engine;
mod event;
mod executor;
mod foreign;
mod heap;
mod inbox;
mod link;
#[cfg(all(test, loom))]
mod loom;
mod message;
mod namespace;
mod platform;
mod pool;
mod process;
mod relay;
mod rmp;
mod satellite;
mod service;
mod slab;
mod spawn;
mod task;
mod timer;
mod traffic;
mod window;

pub use calls::CallContext;
pub use driver::{DriverService, DriverTask, KERNEL_PROCESS};
pub use endpoint::{Endpoint, channel};
pub use executor::{Executor, Step};
pub use heap::{Block, ExchangeHeap};
pub use link::LinkParts;
pub use message::{BufferRef, Capability, Message};
pub use platform::Platform;
pub use satellite::Satellite;
