//! The control API over HTTP/1.1 on a Unix socket: just what its calls need, over `httparse`.
//!
//! A server library would hide the peer's credentials and the bounds that matter here; the subset in use is
//! small. One thread serves one connection, and there is a limit to them.

mod address;
mod chunked;
mod client;
mod connection;
pub mod request;
mod server;

pub use address::{ServeError, default_path};
pub use client::{Client, ConnectError};
pub use server::serve;

/// Most connections at once; more wait in the socket's backlog.
pub const CONNECTIONS_MAX: usize = 64;
/// Largest head of a request or an answer, in bytes.
pub const HEAD_MAX: usize = 16 << 10;
/// Most header fields.
pub const FIELDS_MAX: usize = 32;
/// Largest body of a request, in bytes.
pub const BODY_MAX: usize = 4 << 20;
/// Largest single value of an answer, in bytes.
pub const VALUE_MAX: usize = 64 << 20;
