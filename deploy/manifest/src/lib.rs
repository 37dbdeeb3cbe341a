//! Application manifests: TOML in, checked values or exact diagnostics out.
//!
//! Principles: a [`Manifest`] that exists is right, so nobody checks it again; an error says where (file,
//! line, column), what is wrong, and what to do; as many errors as there are come at once; any text at all
//! gives an answer, never a panic. Neighbours: `deploy/placement` decides from [`Manifest::requests`]; the
//! coordinator starts [`Manifest::instances`]; the command line prints [`Diagnostics`].

#![forbid(unsafe_code)]

mod diagnostic;
mod instance;
mod model;
mod name;
mod overrides;
mod read;
mod size;
mod suggest;

pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use instance::Instance;
pub use model::{Application, Channel, Manifest, Parsed, Process, Restart};
pub use name::{IDENTIFIER_MAX, Illegal, check_identifier, check_path};
pub use overrides::{Number, Override, OverrideError};
pub use read::{ARGS_MAX, INSTANCES_MAX, MANIFEST_MAX, PROCESSES_MAX, RESTARTS_MAX};
pub use size::parse_size;
