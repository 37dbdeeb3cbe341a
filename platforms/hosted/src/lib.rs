//! The hosted platform: a satellite kernel as a pinned Linux process.
//!
//! The same `no_std` kernel and engine as on bare metal; Linux takes the place of the machine. Neighbours:
//! `kernel/core` (the `Platform` trait), `kernel/engine` (the `Machine` trait).

pub mod machine;
