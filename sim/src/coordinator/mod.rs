//! A small coordinator: it starts kernels and processes, holds the namespace and tells peers of each other.
//!
//! It keeps the promises that the real one keeps (`coordinator/daemon`): frames to a kernel in order, a peer's
//! arrival before any channel to it, names of the dead gone before their successors start. Decisions are drawn
//! from the seed.

mod names;

use crate::{
    events::{Event, Life},
    facts::Fact,
    sabotage::Sabotage,
    stage::Stage,
    workload::{Plan, Role},
};
use names::{Action, Bind, Namespace};
use satrap_abi::{
    Digest, ExitStatus, KernelId, ProcessId,
    control::{ProcessSpec, ToCoordinator, ToSatellite},
    limits::Limits,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// How a plan stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Progress {
    /// Its process will be started.
    Waiting,
    /// This process runs, on this kernel.
    Running(ProcessId, Life),
    /// It is over.
    Done,
}

/// The coordinator.
pub struct Coordinator {
    stage: Arc<Stage>,
    plans: Vec<(Plan, Progress)>,
    /// Living kernels, as far as it knows.
    kernels: BTreeSet<Life>,
    generations: BTreeMap<KernelId, u32>,
    names: Namespace,
    processes: u64,
    /// The run is to end: services are not started again.
    closing: bool,
}

/// The digest under which a program is loaded: its name, padded.
pub fn digest_of(program: &str) -> Digest {
    let mut digest = [0; 32];
    let bytes = program.as_bytes();
    digest[..bytes.len()].copy_from_slice(bytes);
    Digest(digest)
}

impl Coordinator {
    /// A coordinator with these plans, which it begins at once.
    pub fn new(stage: Arc<Stage>, plans: Vec<Plan>) -> Coordinator {
        for plan in 0..plans.len() {
            let delay = stage.rng().between(10_000, 300_000);
            stage.after(delay, Event::Start(plan));
        }
        Coordinator {
            stage,
            plans: plans.into_iter().map(|plan| (plan, Progress::Waiting)).collect(),
            kernels: BTreeSet::new(),
            generations: BTreeMap::new(),
            names: Namespace::default(),
            processes: 0,
            closing: false,
        }
    }

    // ---- kernels ----

    /// The next life of a kernel.
    pub fn next_life(&mut self, kernel: KernelId) -> Life {
        let generation = self.generations.entry(kernel).or_default();
        *generation += 1;
        Life {
            kernel,
            generation: *generation,
        }
    }

    /// A kernel runs: its peers learn of it, and it of them.
    pub fn ready(&mut self, life: Life) {
        let up = |peer: Life| ToSatellite::PeerUp {
            kernel: peer.kernel,
            generation: peer.generation,
            export: 0,
        };
        for &peer in &self.kernels {
            self.stage.to_satellite(peer, up(life));
            self.stage.to_satellite(life, up(peer));
        }
        self.kernels.insert(life);
    }

    /// A kernel is dead: its names and processes are gone, its peers are told, and it is started again.
    pub fn lost(&mut self, life: Life) {
        if !self.kernels.remove(&life) {
            return;
        }
        for &peer in &self.kernels {
            let (kernel, generation) = (life.kernel, life.generation);
            self.stage
                .to_satellite(peer, ToSatellite::PeerDown { kernel, generation });
        }
        let actions = self.names.kernel_gone(life);
        self.perform(actions);
        for place in 0..self.plans.len() {
            if matches!(self.plans[place].1, Progress::Running(_, own) if own == life) {
                self.ended(place, ExitStatus::KernelDied);
            }
        }
        let delay = self.stage.rng().between(100_000, 2_000_000);
        self.stage.after(delay, Event::Boot(life.kernel));
    }

    // ---- processes ----

    /// Starts the process of a plan, on a kernel drawn from those that live.
    pub fn start(&mut self, place: usize) {
        if self.plans[place].1 != Progress::Waiting {
            return;
        }
        if self.closing && self.plans[place].0.role == Role::Service {
            self.plans[place].1 = Progress::Done;
            return;
        }
        let kernels: Vec<Life> = self.kernels.iter().copied().collect();
        let Some(&life) = self.stage.rng().pick(&kernels) else {
            self.stage.after(100_000, Event::Start(place));
            return;
        };
        self.processes += 1;
        let process = ProcessId(self.processes);
        self.plans[place].1 = Progress::Running(process, life);
        let plan = &self.plans[place].0;
        self.stage.state(Fact::Started(process, life, plan.limits));
        let spec = spec(process, plan, self.stage.suffers(Sabotage::RaiseLimits));
        self.stage.to_satellite(life, ToSatellite::Spawn(spec));
    }

    fn ended(&mut self, place: usize, status: ExitStatus) {
        let (plan, progress) = &mut self.plans[place];
        let done = (plan.role == Role::Client && status.is_success())
            || (plan.role == Role::Service && self.closing);
        *progress = if done { Progress::Done } else { Progress::Waiting };
        if !done {
            let delay = self.stage.rng().between(10_000, 500_000);
            self.stage.after(delay, Event::Start(place));
        }
    }

    fn place_of(&self, process: ProcessId) -> Option<usize> {
        let runs = |(_, progress): &(Plan, Progress)| matches!(progress, Progress::Running(own, _) if *own == process);
        self.plans.iter().position(runs)
    }

    /// Kills the process of a plan, if it runs.
    pub fn strike(&mut self, place: usize) {
        if let Some((_, Progress::Running(process, life))) = self.plans.get(place) {
            self.stage.to_satellite(*life, ToSatellite::Kill(*process));
        }
    }

    /// Ends every service for good.
    pub fn close(&mut self) {
        self.closing = true;
        for place in 0..self.plans.len() {
            self.strike(place);
        }
    }

    /// How many plans there are.
    pub fn plans(&self) -> usize {
        self.plans.len()
    }

    /// What is not over yet, among clients only or among all.
    pub fn unfinished(&self, all: bool) -> Vec<String> {
        let unfinished = self
            .plans
            .iter()
            .filter(|(plan, progress)| *progress != Progress::Done && (all || plan.role == Role::Client));
        unfinished
            .map(|(plan, progress)| format!("{} ({progress:?})", plan.name))
            .collect()
    }

    /// The namespace.
    pub fn names(&self) -> BTreeMap<String, ProcessId> {
        self.names
            .list()
            .map(|(path, process)| (path.to_owned(), process))
            .collect()
    }

    // ---- frames ----

    /// Answers a kernel.
    pub fn frame(&mut self, from: Life, frame: ToCoordinator) {
        match frame {
            ToCoordinator::Spawned { process, result } => {
                if let (Err(errno), Some(place)) = (result, self.place_of(process)) {
                    self.ended(place, ExitStatus::SpawnFailed(errno));
                }
            }
            ToCoordinator::Exited { process, status } => {
                let actions = self.names.process_gone(from, process);
                self.perform(actions);
                if let Some(place) = self.place_of(process) {
                    self.ended(place, status);
                }
            }
            ToCoordinator::LinkFailed {
                kernel,
                generation,
                reason,
            } => {
                let peer = Life { kernel, generation };
                self.stage.state(Fact::LinkFailed(from, peer, reason));
            }
            frame => self.naming(from, frame),
        }
    }

    fn naming(&mut self, from: Life, frame: ToCoordinator) {
        let actions = match frame {
            ToCoordinator::Register {
                request,
                process,
                path,
                contract,
                service,
            } => {
                let result = self.names.register(from, process, path, (service, contract));
                let (result, actions) = match result {
                    Ok(actions) => (Ok(()), actions),
                    Err(errno) => (Err(errno), Vec::new()),
                };
                self.stage
                    .to_satellite(from, ToSatellite::RegisterReply { request, result });
                actions
            }
            ToCoordinator::Unregister { service } => self.names.unregister(from, service),
            ToCoordinator::Bind {
                request,
                process,
                path,
                contract,
                channel,
                wait,
            } => self.names.bind(Bind {
                client: from,
                request,
                process,
                path,
                contract,
                channel,
                wait,
            }),
            ToCoordinator::BindCancel { request } => {
                self.names.cancel(from, request);
                Vec::new()
            }
            ToCoordinator::ConnectReply {
                client,
                request,
                result,
            } => self.names.connected(from, client, request, result),
            _ => Vec::new(),
        };
        self.perform(actions);
    }

    fn perform(&mut self, actions: Vec<Action>) {
        for Action { to, frame } in actions {
            self.stage.to_satellite(to, frame);
        }
    }
}

fn spec(process: ProcessId, plan: &Plan, raised: bool) -> ProcessSpec {
    let limits = Limits {
        handles: plan.limits.handles + u32::from(raised),
        threads: plan.limits.threads + u32::from(raised),
        ..plan.limits
    };
    ProcessSpec {
        process,
        name: plan.name.clone(),
        artifact: digest_of(plan.program),
        args: vec![plan.name.clone(), plan.path.to_owned()],
        limits,
        channels: Vec::new(),
        registers: Vec::new(),
        unrestricted: true,
        priority: 1,
    }
}
