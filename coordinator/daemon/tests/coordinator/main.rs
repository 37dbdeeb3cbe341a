//! The coordinator as a whole, with fake satellites on real control sockets.
//!
//! One test program, so that the fakes are built once. Neighbours: `executive/tests.rs` in the library tests
//! the same decisions without any socket or clock.

mod control_api;
mod satellites;
mod support;
