//! What guests do: services and clients that say what they send, receive, own and lose.
//!
//! A client whose channel breaks binds again and starts a new conversation; it ends when it has had enough of
//! them. `line.rs` is one end of a conversation, the other files are the programs.

mod broker;
mod echo;
mod flow;
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
    let mut plans = Vec::new();
    let mut add = |count: u64, program: &'static str, path: &'static str, role: Role, limits: Limits| {
        for number in 0..count {
            let name = format!("{program}-{number}");
            plans.push(Plan {
                name,
                program,
                path,
                role,
                limits,
            });
        }
    };
    let [echo, flow, broker] = scenario.clients.map(|(low, high)| rng.between(low, high));
    let service = if rng.chance(500) {
        "echo-service"
    } else {
        "echo-threads"
    };
    add(u64::from(echo > 0), service, "/echo", Role::Service, LIMITS);
    add(echo, "echo-client", "/echo", Role::Client, LIMITS);
    add(
        u64::from(flow > 0),
        "flow-service",
        "/flow",
        Role::Service,
        LIMITS,
    );
    add(flow, "flow-client", "/flow", Role::Client, LIMITS);
    add(
        u64::from(broker > 0),
        "broker-service",
        "/broker",
        Role::Service,
        LIMITS,
    );
    add(2 * broker, "broker-client", "/broker", Role::Client, LIMITS);
    add(u64::from(scenario.hoarder), "hoarder", "", Role::Client, FEW);
    plans
}
