//! The coordinator: topology, launch, namespace, install, placement, supervision, control API.

#![forbid(unsafe_code)]

pub mod api;
pub mod install;
pub mod journal;
pub mod namespace;
pub mod satellite;
pub mod supervise;
#[cfg(test)]
mod testing;
pub mod topology;
