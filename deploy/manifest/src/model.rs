//! What a manifest says, checked. The table of fields for people is in each type's documentation.
//! Plain data: `read` makes it from text, `instance` turns it into what is started.

use std::collections::BTreeMap;

use satrap_abi::limits::Limits;
use serde::Serialize;

use crate::diagnostic::Diagnostic;

/// A checked manifest: one application.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Manifest {
    /// `[application]`.
    pub application: Application,
    /// `[[process]]`, in the order of the file, at least one; see [`Manifest::instances`].
    pub processes: Vec<Process>,
}

/// A manifest, and what was odd but not wrong about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parsed {
    /// The manifest.
    pub manifest: Manifest,
    /// Warnings, in the order of the file.
    pub warnings: Vec<Diagnostic>,
}

/// `[application]`: what it is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Application {
    /// `name`, required: a letter, then letters, digits, `-`, `_`; at most 64 bytes.
    pub name: String,
    /// `version`: semantic version, default `0.0.0`.
    pub version: String,
    /// `description`: for people, default empty.
    pub description: String,
}

/// `[[process]]`: one program and how it wishes to run.
///
/// `{instance}` in `args`, `registers` and the channels' paths stands for the number of the instance, from
/// 0, so that copies can tell themselves apart.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Process {
    /// `name`, required: as the application's, and unique in the file.
    pub name: String,
    /// `program`, required: path of the Wasm file, relative to the manifest's folder.
    pub program: String,
    /// `args`: arguments after the program's name, default none; at most 64 KiB together.
    pub args: Vec<String>,
    /// `instances`: copies to start, 1 to 1024, default 1.
    pub instances: u32,
    /// `restart`: when to start it again after its end, default `"never"`.
    pub restart: Restart,
    /// `restart-limit`: restarts within one minute before it is given up, 1 to 1000, default 5.
    pub restart_limit: u32,
    /// `registers`: paths that it may serve, default none. No two processes may name the same one; the
    /// instances of one process offer the same service.
    pub registers: Vec<String>,
    /// `platforms`: platforms that it can run on, and how much it prefers each, 1 to 1,000,000. Default
    /// empty: any. Without a kernel of any of them it is not started (Helios §3.7.3).
    pub platforms: BTreeMap<String, u32>,
    /// `self-affinity`: affinity to each copy of itself that already runs, -1,000,000 to 1,000,000,
    /// default 0. Negative spreads the copies over the kernels (Helios §3.7.2).
    pub self_affinity: i32,
    /// `priority`: scheduling class, 0 (highest) to 3, default 1.
    pub priority: u8,
    /// `[process.limits]`: `memory` (64 KiB to 2 GiB), `threads` (1 to 65,536), `handles` (1 to 1,048,576),
    /// `exchange` (0 to 64 GiB), `names` (0 to 4,096), `stack` (64 KiB to 64 MiB); sizes as `"64 MiB"`,
    /// `"64M"` or a number of bytes. Defaults: [`Limits::DEFAULT`].
    pub limits: Limits,
    /// `[process.channels.NAME]`: services that it may bind, in the order of the file.
    pub channels: Vec<Channel>,
    /// Whether it may bind and register any path. Never from a file: see [`Manifest::single`].
    pub unrestricted: bool,
}

/// `[process.channels.NAME]`, or in short `NAME = "/path"`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Channel {
    /// NAME: what the program calls it; as a process's name, and not `self`.
    pub name: String,
    /// `path`, required: the service's path in the namespace.
    pub path: String,
    /// `contract`: what must be spoken on it, as `satrap:png/store@1.0.0`; default: what the program was
    /// built with.
    pub contract: Option<String>,
    /// `affinity`: with (above 0) or apart from (below 0) the service, -1,000,000 to 1,000,000, default 0.
    pub affinity: i32,
}

/// `restart`: what to do when the process ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Restart {
    /// `"never"`: leave it.
    #[default]
    Never,
    /// `"on-failure"`: start it again unless it ended with exit status 0.
    OnFailure,
    /// `"always"`: start it again.
    Always,
}

/// Restarts within one minute, unless the manifest says otherwise.
pub(crate) const RESTART_LIMIT: u32 = 5;
/// Scheduling class, unless the manifest says otherwise.
pub(crate) const PRIORITY: u8 = 1;

impl Process {
    /// A process with a name and a program, and the defaults for everything else.
    pub fn new(name: &str, program: &str) -> Process {
        Process {
            name: name.to_string(),
            program: program.to_string(),
            args: Vec::new(),
            instances: 1,
            restart: Restart::Never,
            restart_limit: RESTART_LIMIT,
            registers: Vec::new(),
            platforms: BTreeMap::new(),
            self_affinity: 0,
            priority: PRIORITY,
            limits: Limits::DEFAULT,
            channels: Vec::new(),
            unrestricted: false,
        }
    }
}

impl Manifest {
    /// The manifest of a program that comes without one (`satrap run PROGRAM.wasm ARGS`): one process,
    /// named after the file, with the default limits. By its owner's wish it is unrestricted: it may bind
    /// and register any path.
    pub fn single(program: &str, args: &[String]) -> Manifest {
        let name = crate::name::identifier_from(program);
        let process = Process {
            args: args.to_vec(),
            unrestricted: true,
            ..Process::new(&name, program)
        };
        let application = Application {
            name,
            version: "0.0.0".to_string(),
            description: String::new(),
        };
        Manifest {
            application,
            processes: vec![process],
        }
    }

    /// The process called `name` in the file.
    pub fn process(&self, name: &str) -> Option<&Process> {
        self.processes.iter().find(|process| process.name == name)
    }
}
