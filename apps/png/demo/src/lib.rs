//! The PNG service under load: started on two satellites, fed by HTTP clients, measured.
//!
//! `service` starts it with a coordinator in this process, `client` speaks HTTP, `load` uploads, `figures` reads
//! the kernels' counters, `screen` prints. The demo (`main`) tells a story with them; the end-to-end tests use
//! them too.

#![forbid(unsafe_code)]

pub mod client;
pub mod figures;
pub mod interrupt;
pub mod load;
pub mod screen;
pub mod service;
