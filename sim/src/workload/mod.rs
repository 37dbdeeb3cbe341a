//! What guests do: services and clients that say what they send, receive, own and lose.
//!
//! A client whose channel breaks binds again and starts a new conversation; it ends when it has had enough of
//! them. `line.rs` is one end of a conversation, the other files are the programs.

mod broker;
mod echo;
mod flow;
mod heir;
mod hoarder;
mod line;

use crate::{engine::SimProgram, rng::Rng, scenario::Scenario};
use satrap_abi::limits::Limits;

/// Whether a process is needed until the end, or ends by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Started again whenever it ends, until the run ends.
    Service,
    /// Started again until it has ended with success.
    Client,
}

/// A process to be run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Its name, for people.
    pub name: String,
    /// Its program.
    pub program: &'static str,
    /// The path that it registers or binds.
    pub path: &'static str,
    /// What becomes of it.
    pub role: Role,
    /// Its limits.
    pub limits: Limits,
}

/// The programs, by name.
const PROGRAMS: &[(&str, SimProgram)] = &[
    ("echo-service", SimProgram::new(echo::service, &[])),
    (
        "echo-threads",
        SimProgram::new(echo::threads, &[echo::serve_argument]),
    ),
    ("echo-client", SimProgram::new(echo::client, &[])),
    (
        "flow-service",
        SimProgram::new(flow::service, &[flow::serve_argument]),
    ),
    ("flow-client", SimProgram::new(flow::client, &[])),
    ("broker-service", SimProgram::new(broker::service, &[])),
    ("broker-client", SimProgram::new(broker::client, &[])),
    ("heir-service", SimProgram::new(heir::service, &[])),
    ("heir-client", SimProgram::new(heir::client, &[])),
    (
        "hoarder",
        SimProgram::new(hoarder::main, &[hoarder::wait_for_main]),
    ),
];

/// What a process of the workload may use: little, so that limits matter.
const LIMITS: Limits = Limits {
    memory: 64 << 10,
    threads: 8,
    handles: 64,
    exchange: 128 << 10,
    names: 1,
    stack: 64 << 10,
};

/// What the hoarder may use: less.
const FEW: Limits = Limits {
    threads: 4,
    handles: 12,
    ..LIMITS
};

/// The program of that name.
pub fn program(name: &str) -> Option<SimProgram> {
    PROGRAMS
        .iter()
        .find(|(own, _)| *own == name)
        .map(|(_, program)| *program)
}

/// The names of all programs.
pub fn programs() -> impl Iterator<Item = &'static str> {
    PROGRAMS.iter().map(|(name, _)| *name)
}

/// The processes of a run.
pub fn plans(scenario: &Scenario, rng: &mut Rng) -> Vec<Plan> {
    let [echo, flow, pairs, heirs] = scenario.clients.map(|(low, high)| rng.between(low, high));
    let answers = if rng.chance(500) {
        "echo-service"
    } else {
        "echo-threads"
    };
    let services = [
        (echo + heirs, answers, "/echo"),
        (flow, "flow-service", "/flow"),
        (pairs, "broker-service", "/broker"),
        (heirs, "heir-service", "/heir"),
    ];
    let clients = [
        (echo, "echo-client", "/echo"),
        (flow, "flow-client", "/flow"),
        (2 * pairs, "broker-client", "/broker"),
        (heirs, "heir-client", "/echo"),
        (u64::from(scenario.hoarder), "hoarder", ""),
    ];
    let plan = |(program, path), role, number| Plan {
        name: format!("{program}-{number}"),
        program,
        path,
        role,
        limits: if program == "hoarder" { FEW } else { LIMITS },
    };
    let needed = services.into_iter().filter(|(clients, ..)| *clients > 0);
    let services = needed.map(|(_, program, path)| plan((program, path), Role::Service, 0));
    let clients = clients.into_iter().flat_map(|(count, program, path)| {
        (0..count).map(move |number| plan((program, path), Role::Client, number))
    });
    services.chain(clients).collect()
}
