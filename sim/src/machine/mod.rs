//! What a simulated kernel stands on: a host with CPUs, the platform over it, and wires to its peers.
//!
//! The rings, exports and the doorbell protocol are the real ones of `interconnect/link`; what a bell does, and
//! when, is decided here.

mod host;
mod kernel;
mod platform;
mod wire;

pub use host::Host;
pub use kernel::{CpuState, Kernel};
pub use platform::SimPlatform;
pub use wire::link;
