//! Values of the control API for tests: plain ones, to be changed where a test cares.
//!
//! Neighbours: the rendering tests of `commands` and the rates of `commands::top`.

use satrap_coordinator::api::{
    App, AppState, Channel, Kernel, KernelState, Name, Process, ProcessState, Status,
};
use std::{collections::BTreeMap, path::PathBuf};

/// A running satellite on the CPU of its number less one.
pub fn kernel(id: u16, load: f64) -> Kernel {
    Kernel {
        id,
        generation: 0,
        platform: "hosted-x86_64".into(),
        state: KernelState::Running,
        cpus: vec![u32::from(id) - 1],
        node: Some(0),
        pid: Some(4000 + u32::from(id)),
        boot_us: Some(9000),
        load,
        processes: 1,
        stats: None,
    }
}

/// A running process `app/pID` on satellite 1.
pub fn process(id: u64, cpu_ns: u64) -> Process {
    Process {
        id,
        app: 1,
        app_name: "app".into(),
        name: format!("p{id}"),
        kernel: Some(1),
        state: ProcessState::Running,
        priority: 1,
        restarts: 0,
        age_ms: 61_000,
        cpu_ns,
        memory: id << 20,
        threads: 1,
        handles: 1,
        exit: None,
        exit_code: None,
        placement: String::new(),
    }
}

/// A running application.
pub fn app(id: u64, name: &str, processes: Vec<Process>) -> App {
    App {
        id,
        name: name.into(),
        version: "1.0.0".into(),
        state: AppState::Running,
        attached: false,
        age_ms: 61_000,
        exit_code: None,
        processes,
    }
}

/// One open endpoint of a process on satellite 1, to satellite 2.
pub fn channel(process: u64, name: &str, sent: u64) -> Channel {
    Channel {
        process,
        process_name: format!("app/p{process}"),
        kernel: 1,
        name: name.into(),
        peer: 2,
        endpoints: 1,
        sent,
        received: 0,
        bytes_sent: sent * 100,
        bytes_received: 0,
        bytes_copied: 0,
        copies: 0,
    }
}

/// A name without contract or attributes.
pub fn name(path: &str, kernel: u16, process: Option<u64>) -> Name {
    Name {
        path: path.into(),
        kernel,
        generation: 0,
        process,
        contract: None,
        contract_name: None,
        attributes: BTreeMap::new(),
    }
}

/// Two satellites and an application.
pub fn status() -> Status {
    Status {
        version: "0.1.0".into(),
        pid: 4000,
        uptime_ms: 125_000,
        socket: Some(PathBuf::from("/run/s.sock")),
        up_us: Some(12_345),
        kernels: vec![kernel(1, 0.0), kernel(2, 0.5)],
        apps: vec![app(3, "png", vec![process(7, 0)])],
        notices: vec!["cores are shared".into()],
    }
}
