//! The coordinator: topology, launch, namespace, install, placement, supervision, control API.

#![forbid(unsafe_code)]

pub mod api;
pub mod journal;
pub mod namespace;
pub mod supervise;
pub mod topology;
