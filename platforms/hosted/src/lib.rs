//! The hosted platform: a satellite kernel as a pinned Linux process.
//!
//! The same `no_std` kernel and engine as on bare metal; Linux takes the place of the machine. Start reading at
//! `boot.rs`, then `platform.rs`. Neighbours: `kernel/core` (the `Platform` trait), `kernel/engine` (the
//! `Machine` trait), the coordinator at the other end of the control socket.

mod bells;
mod boot;
mod control;
mod cpus;
mod export;
pub mod machine;
mod net;
mod notifier;
mod platform;
mod ticks;

pub use boot::{BootError, run};
pub use export::SharedMemory;
pub use platform::Hosted;
