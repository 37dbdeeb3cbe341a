//! What the executive is asked to run: an application as plain, checked values.
//!
//! Made from a manifest by `deploy`; the executive knows neither TOML nor files.

use satrap_abi::control::ChannelGrant;
use satrap_manifest::Process;
use satrap_placement::Request;
use std::path::PathBuf;

/// An application.
#[derive(Clone, PartialEq, Debug)]
pub struct AppPlan {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Whether somebody waits for it: then it ends with the last of its processes that is not a service.
    pub attached: bool,
    /// Its processes, in the manifest's order.
    pub processes: Vec<ProcessPlan>,
    /// What was odd about the manifest.
    pub warnings: Vec<String>,
}

/// A process of an application.
#[derive(Clone, PartialEq, Debug)]
pub struct ProcessPlan {
    /// Its name, channels, services and affinities, as placement sees them.
    pub request: Request,
    /// The Wasm file.
    pub program: PathBuf,
    /// What the manifest says of it.
    pub process: Process,
}

impl ProcessPlan {
    /// Its name in the application: `decoder`, or `decoder.1` for one of several instances.
    pub fn process_name(&self) -> &str {
        &self.request.process
    }

    /// Whether it may bind that path.
    pub fn may_bind(&self, path: &str) -> bool {
        self.process.unrestricted || self.process.channels.iter().any(|channel| channel.path == path)
    }

    /// Whether it may register that path.
    pub fn may_register(&self, path: &str) -> bool {
        self.process.unrestricted || self.process.registers.iter().any(|own| own == path)
    }

    /// Its channels as its kernel knows them.
    pub fn grants(&self) -> Vec<ChannelGrant> {
        let grant = |channel: &satrap_manifest::Channel| ChannelGrant {
            name: channel.name.clone(),
            path: channel.path.clone(),
        };
        self.process.channels.iter().map(grant).collect()
    }
}
