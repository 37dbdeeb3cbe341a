//! What the answers of the control API say. Times are milliseconds, sizes bytes, unless a name says otherwise.
//!
//! Plain data with serde; figures that satellites report keep the shape of `satrap_abi::control`.

use satrap_abi::{ExitStatus, control::KernelStats};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, path::PathBuf};

/// `GET /v1/status`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Status {
    /// Version of the coordinator.
    pub version: String,
    /// Its operating-system process.
    pub pid: u32,
    /// Time since its start, in ms.
    pub uptime_ms: u64,
    /// The socket that it serves; none inside `satrap run`.
    pub socket: Option<PathBuf>,
    /// From its start to the registration of its last first-generation satellite, in µs.
    pub up_us: Option<u64>,
    /// Its satellites.
    pub kernels: Vec<Kernel>,
    /// Applications, those that ended lately included.
    pub apps: Vec<App>,
    /// What the operator should know, newest last: shared cores, contract mismatches, dead satellites.
    pub notices: Vec<String>,
}

/// A satellite's state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KernelState {
    /// Started, not yet ready.
    Booting,
    /// Registered in the namespace.
    Running,
    /// Waits for its next start.
    Restarting,
    /// Died too often; not started again.
    Failed,
}

/// `GET /v1/kernels`: one satellite.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Kernel {
    /// Its number; its path is `/kernel/N`.
    pub id: u16,
    /// How many kernels had this number before.
    pub generation: u32,
    /// Platform name, such as `hosted-x86_64`; empty until it is ready.
    pub platform: String,
    /// Its state.
    pub state: KernelState,
    /// Its CPUs.
    pub cpus: Vec<u32>,
    /// The NUMA node of all its CPUs, if they share one.
    pub node: Option<u32>,
    /// Its operating-system process.
    pub pid: Option<u32>,
    /// From launch to ready, in µs.
    pub boot_us: Option<u64>,
    /// Share of its CPUs' time spent on work lately, 0 to 1.
    pub load: f64,
    /// Live processes.
    pub processes: u32,
    /// Its latest figures.
    pub stats: Option<KernelStats>,
}

/// A process's state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProcessState {
    /// Waits for its placement: a satellite boots, or it waits for its next start.
    Waiting,
    /// Its satellite loads the program.
    Starting,
    /// Runs.
    Running,
    /// Was asked to end.
    Ending,
    /// Has ended, and is not started again.
    Exited,
}

/// `GET /v1/processes`: one process.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Process {
    /// Its id; 0 before its first placement. Each restart has a new one.
    pub id: u64,
    /// Its application's id.
    pub app: u64,
    /// Its application's name.
    pub app_name: String,
    /// Its name in the application, such as `decoder` or `decoder.1`.
    pub name: String,
    /// Its satellite.
    pub kernel: Option<u16>,
    /// Its state.
    pub state: ProcessState,
    /// Scheduling class, 0 the highest.
    pub priority: u8,
    /// How often it was started again.
    pub restarts: u32,
    /// Time since its latest start, in ms.
    pub age_ms: u64,
    /// CPU time, in ns.
    pub cpu_ns: u64,
    /// Memory charged to it.
    pub memory: u64,
    /// Live threads.
    pub threads: u32,
    /// Open handles.
    pub handles: u32,
    /// How it ended last, in words.
    pub exit: Option<String>,
    /// The exit code for that, see [`exit_code`].
    pub exit_code: Option<i32>,
    /// Why it stands where it stands.
    pub placement: String,
}

/// An application's state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AppState {
    /// Some process of it lives, or will be started again.
    Running,
    /// Its end was asked for; processes are still ending.
    Ending,
    /// All its processes have ended.
    Ended,
}

/// `GET /v1/apps`: one application.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct App {
    /// Its id.
    pub id: u64,
    /// Its name.
    pub name: String,
    /// Its version; empty for a program without a manifest.
    pub version: String,
    /// Its state.
    pub state: AppState,
    /// Whether it ends with the connection that started it.
    pub attached: bool,
    /// Time since its start, in ms.
    pub age_ms: u64,
    /// Its exit code once ended: the first that was not 0 of its processes, else 0.
    pub exit_code: Option<i32>,
    /// Its processes.
    pub processes: Vec<Process>,
}

/// `GET /v1/names`: one name.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Name {
    /// Full path.
    pub path: String,
    /// Owner's kernel; 0 for the coordinator.
    pub kernel: u16,
    /// Generation of that kernel.
    pub generation: u32,
    /// The process that registered it.
    pub process: Option<u64>,
    /// Digest of its contract, in hexadecimal.
    pub contract: Option<String>,
    /// Name of its contract, when an installed program carried it.
    pub contract_name: Option<String>,
    /// Attributes.
    pub attributes: BTreeMap<String, String>,
}

/// `GET /v1/channels`: all endpoints that a process has or had under one name to one kernel. Counters run from the
/// process's start.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Channel {
    /// The process that holds them.
    pub process: u64,
    /// That process's name, `app/name`.
    pub process_name: String,
    /// That process's kernel.
    pub kernel: u16,
    /// The name under which the process bound or registered it.
    pub name: String,
    /// The kernel of the other end.
    pub peer: u16,
    /// How many are open.
    pub endpoints: u32,
    /// Messages sent.
    pub sent: u64,
    /// Messages received.
    pub received: u64,
    /// Payload bytes sent.
    pub bytes_sent: u64,
    /// Payload bytes received.
    pub bytes_received: u64,
    /// Payload bytes that the kernel copied.
    pub bytes_copied: u64,
    /// Copies that the kernel made.
    pub copies: u64,
}

/// What to run, place or install.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// An application.
    Manifest {
        /// The manifest's text.
        text: String,
        /// Its file name, for error messages.
        file: String,
        /// Absolute folder that its programs' paths are relative to.
        base: PathBuf,
    },
    /// One program without a manifest, by absolute path. It may bind, list and register anything.
    Program(PathBuf),
}

impl Source {
    /// Reads what a command line names: a `.toml` manifest, or else a program.
    pub fn read(path: &std::path::Path) -> std::io::Result<Source> {
        let path = std::fs::canonicalize(path)?;
        if path.extension().is_none_or(|extension| extension != "toml") {
            return Ok(Source::Program(path));
        }
        Ok(Source::Manifest {
            text: std::fs::read_to_string(&path)?,
            file: path.display().to_string(),
            base: path.parent().unwrap_or(&path).to_path_buf(),
        })
    }
}

/// Body of `POST /v1/apps`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RunRequest {
    /// What to run.
    pub source: Source,
    /// Arguments of the program, or of the manifest's first process, after the program's name.
    #[serde(default)]
    pub args: Vec<String>,
    /// Affinity overrides, such as `smtp.store=-1`.
    #[serde(default)]
    pub overrides: Vec<String>,
    /// Whether the answer streams until the application's end, which comes at the latest when the connection
    /// closes. Not attached, the answer ends when every process is placed and started.
    #[serde(default)]
    pub attached: bool,
}

/// Body of `POST /v1/place`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PlaceRequest {
    /// What would be run.
    pub source: Source,
    /// Affinity overrides.
    #[serde(default)]
    pub overrides: Vec<String>,
}

/// Body of `POST /v1/install`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct InstallRequest {
    /// What to compile.
    pub sources: Vec<Source>,
}

/// `POST /v1/place`: where an application's processes would go.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Placement {
    /// The explanation as a table for people.
    pub explanation: String,
    /// The same for machines: a serialised [`satrap_placement::Plan`].
    pub plan: serde_json::Value,
    /// How many processes can go nowhere.
    pub refused: usize,
}

/// What a shell sees of a process's end: its own code; 134 after a trap (as after an abort), 137 when killed
/// (as after SIGKILL), 70 when its satellite died under it, 126 when it could not be started.
pub fn exit_code(status: ExitStatus) -> i32 {
    match status {
        ExitStatus::Code(code) => code,
        ExitStatus::Trap(_) => 134,
        ExitStatus::Killed => 137,
        ExitStatus::KernelDied => 70,
        ExitStatus::SpawnFailed(_) => 126,
    }
}
