//! What a Rust program for Satrap links: typed endpoints, blocks and pools, threads, time, the console.
//!
//! A program is a `main` and typed endpoints. Unsafe code is in [`raw`] alone. Neighbours: `base/abi`
//! (layouts), `sdk/macros` (`contract!`), `kernel/engine` (the other side of every call).
//!
//! ```no_run
//! use satrap::println;
//!
//! satrap::main!(main);
//!
//! fn main() {
//!     println!("hello from satellite {}", satrap::process::kernel());
//! }
//! ```
//!
//! A program talks to others through channels whose contract is a WIT file:
//! `satrap::contract!("echo.wit")` generates a module with one type for each state of the protocol, so that
//! a message out of order does not compile. `examples/` goes from here to a service with two clients.

#![deny(unsafe_code)]

mod block;
pub mod console;
mod endpoint;
mod error;
mod handle;
mod message;
mod pool;
pub mod process;
pub mod random;
#[allow(unsafe_code, reason = "the kernel's functions and the memory it maps")]
pub mod raw;
pub mod thread;
pub mod time;
pub mod wire;

pub use block::{Block, MappedBlock};
pub use endpoint::{Endpoint, Service, Source, bind, bind_until, channel, list, wait, wait_until};
pub use error::Error;
pub use message::Message;
pub use pool::{Buffer, Pool, ReceivedBuffer};
pub use process::{args, exit};
pub use satrap_abi::{Errno, KernelId, ProcessId};
pub use satrap_macros::contract;
