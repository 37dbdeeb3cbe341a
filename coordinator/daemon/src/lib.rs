//! The coordinator: topology, launch, namespace, install, placement, supervision, control API.
//!
//! Start one with [`Coordinator::start`], or reach a running one with [`Client::connect`]; both answer the
//! calls of [`api::Control`]. The parts: `executive` decides everything and does no I/O; `runtime` polls the
//! satellites and carries out; `satellite`, `install` and `http` touch the world; `namespace`, `supervise`,
//! `topology` and `record` are pure.

#![forbid(unsafe_code)]

pub mod api;
mod config;
mod contracts;
mod coordinator;
mod deploy;
pub mod executive;
pub mod http;
pub mod install;
pub mod journal;
pub mod namespace;
pub mod plan;
pub mod record;
mod runtime;
pub mod satellite;
mod service;
pub mod supervise;
#[cfg(test)]
mod testing;
pub mod topology;

pub use config::{Config, EXPORT_DEFAULT, StartError};
pub use coordinator::{Coordinator, Stopper};
pub use http::{Client, ConnectError, ServeError, default_path};
