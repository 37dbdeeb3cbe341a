//! The event loop: which CPU is stepped next, what arrives, who crashes. All of it drawn from the seed.
//!
//! CPUs take turns; a guest that runs may let others run in between ([`World::interlude`]), so that kernels
//! meet each other in every phase of a thread and not between turns only.

use crate::{
    checkers::{AtRest, Leftover},
    contracts::CONTRACTS,
    coordinator::{Coordinator, digest_of},
    events::{Event, Life},
    facts::Fact,
    machine::{CpuState, Kernel},
    stage::{Stage, lock},
    workload,
};
use satrap_abi::{KernelId, control::ToSatellite};
use satrap_kernel::{Executor, Step};
use satrap_region::Region;
use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

/// Virtual time that a phase of a run may take, in ns.
const TIME: u64 = 60_000_000_000;
/// Turns that a phase of a run may take.
const TURNS: usize = 400_000;
/// How deep interludes may nest.
const DEPTH: usize = 4;
/// One turn in so many looks at what a kernel counts.
const SAMPLES: usize = 64;

/// All kernels of a run and their coordinator.
pub struct World {
    stage: Arc<Stage>,
    kernels: Mutex<BTreeMap<KernelId, Arc<Kernel>>>,
    /// The crashed, until no CPU of theirs is being stepped.
    graves: Mutex<Vec<Arc<Kernel>>>,
    /// Exports stay mapped as long as a peer may read them.
    memories: Mutex<BTreeMap<Life, Region>>,
    coordinator: Mutex<Coordinator>,
    depth: AtomicUsize,
    turns: AtomicUsize,
}

impl World {
    /// A world in which everything is still to come.
    pub fn new(stage: Arc<Stage>) -> Arc<World> {
        let scenario = &stage.scenario;
        let plans = workload::plans(scenario, &mut stage.rng());
        let coordinator = Coordinator::new(stage.clone(), plans);
        let (low, high) = scenario.kernels;
        let kernels = stage.rng().between(low, high);
        for number in 1..=kernels {
            let delay = stage.rng().between(0, 100_000);
            stage.after(delay, Event::Boot(KernelId(number as u16)));
        }
        for _ in 0..scenario.crashes {
            let kernel = KernelId(stage.rng().between(1, kernels) as u16);
            let delay = stage.rng().below(scenario.unrest);
            stage.after(delay, Event::Crash(kernel));
        }
        for _ in 0..scenario.strikes {
            let plan = stage.rng().below(coordinator.plans() as u64) as usize;
            let delay = stage.rng().below(scenario.unrest);
            stage.after(delay, Event::Strike(plan));
        }
        let world = Arc::new(World {
            stage: stage.clone(),
            kernels: Mutex::default(),
            graves: Mutex::default(),
            memories: Mutex::default(),
            coordinator: Mutex::new(coordinator),
            depth: AtomicUsize::new(0),
            turns: AtomicUsize::new(0),
        });
        let weak = Arc::downgrade(&world);
        stage.set_interlude(Box::new(move || {
            if let Some(world) = weak.upgrade() {
                world.interlude();
            }
        }));
        world
    }

    /// How many turns there were.
    pub fn turns(&self) -> usize {
        self.turns.load(Relaxed)
    }

    // ---- phases ----

    /// Runs the world to its end: until clients have ended, until services have, and takes it apart.
    pub fn run(&self) {
        let rests = self.settle();
        let coordinator = lock(&self.coordinator);
        let unfinished = coordinator.unfinished(false);
        let clients_done = unfinished.is_empty();
        let names = coordinator.names();
        drop(coordinator);
        self.judge(AtRest {
            rests,
            unfinished,
            clients_done,
            names,
            leftovers: Vec::new(),
        });
        let mut rests = rests;
        if !self.is_over() {
            lock(&self.coordinator).close();
            rests = self.settle();
        }
        let leftovers = self.take_apart();
        let coordinator = lock(&self.coordinator);
        let (unfinished, names) = (coordinator.unfinished(true), coordinator.names());
        drop(coordinator);
        self.judge(AtRest {
            rests,
            unfinished,
            clients_done,
            names,
            leftovers,
        });
    }

    /// Takes turns until nothing moves; false if that never comes.
    fn settle(&self) -> bool {
        let deadline = self.stage.now() + TIME;
        for _ in 0..TURNS {
            if self.is_over() || self.stage.now() > deadline {
                return false;
            }
            if !self.turn(true) {
                return true;
            }
            self.bury();
        }
        false
    }

    /// Whether a promise is broken: the rest of the run says nothing new.
    fn is_over(&self) -> bool {
        self.stage.checkers().violation().is_some()
    }

    fn judge(&self, world: AtRest) {
        self.stage.checkers().at_rest(&world);
    }

    /// Ends every kernel, and says what each held when all was over.
    fn take_apart(&self) -> Vec<Leftover> {
        let kernels: Vec<Arc<Kernel>> = std::mem::take(&mut *lock(&self.kernels)).into_values().collect();
        let measure = |kernel: &Arc<Kernel>| {
            let stats = kernel.satellite.stats();
            (stats.exchange_used, stats.processes.len())
        };
        let held: Vec<_> = kernels.iter().map(measure).collect();
        kernels.iter().for_each(|kernel| kernel.host.die());
        let end = |(kernel, (exchange, processes)): (Arc<Kernel>, _)| Leftover {
            life: kernel.life,
            exchange,
            processes,
            leaked: !ends(kernel),
        };
        kernels.into_iter().zip(held).map(end).collect()
    }

    // ---- turns ----

    /// Other CPUs run, while a guest is in the middle of something.
    fn interlude(&self) {
        if self.depth.fetch_add(1, Relaxed) < DEPTH {
            let turns = self.stage.rng().between(1, 5);
            // Now and then the guest is slow: time jumps to what happens next.
            let slow = self.stage.rng().chance(100);
            for _ in 0..turns {
                self.turn(slow);
            }
        }
        self.depth.fetch_sub(1, Relaxed);
    }

    /// What has come due happens, then one CPU is stepped. If none can be, time moves on to what happens next,
    /// if it may. False if nothing will ever happen.
    fn turn(&self, may_jump: bool) -> bool {
        loop {
            let event = self.stage.queue().take(self.stage.now());
            match event {
                Some(event) => self.happen(event),
                None => break,
            }
        }
        let turn = self.turns.fetch_add(1, Relaxed);
        let (ready, deadline) = self.ready();
        let chosen = self.stage.rng().pick(&ready).cloned();
        if let Some((kernel, cpu)) = chosen {
            self.step(&kernel, cpu);
            if turn.is_multiple_of(SAMPLES) {
                self.sample(&kernel);
            }
            return true;
        }
        let event = self.stage.queue().next();
        match [event, deadline].into_iter().flatten().min() {
            Some(time) if may_jump => {
                self.stage.advance_to(time);
                true
            }
            next => next.is_some(),
        }
    }

    /// The CPUs that can be stepped, and when the first of the others wants to be.
    fn ready(&self) -> (Vec<(Arc<Kernel>, usize)>, Option<u64>) {
        let (mut ready, mut deadline) = (Vec::new(), None::<u64>);
        for kernel in lock(&self.kernels).values() {
            for cpu in 0..kernel.cpus() {
                match kernel.state(cpu) {
                    CpuState::Ready => ready.push((kernel.clone(), cpu)),
                    CpuState::Parked(until) => {
                        let due = until.is_some_and(|until| until <= self.stage.now());
                        if kernel.host.take_wake(cpu) || due {
                            kernel.on_cpu(cpu, Executor::after_park);
                            kernel.set_state(cpu, CpuState::Ready);
                            ready.push((kernel.clone(), cpu));
                        } else {
                            deadline = [deadline, until].into_iter().flatten().min();
                        }
                    }
                    CpuState::Busy | CpuState::Stopped => {}
                }
            }
        }
        (ready, deadline)
    }

    fn step(&self, kernel: &Kernel, cpu: usize) {
        kernel.set_state(cpu, CpuState::Busy);
        let cost = self.stage.rng().between(100, 1_500);
        self.stage.pass(cost);
        let state = match kernel.on_cpu(cpu, Executor::step) {
            Step::Ran => CpuState::Ready,
            Step::Stopped => CpuState::Stopped,
            Step::Idle(_) => match kernel.on_cpu(cpu, Executor::before_park) {
                Some(until) => CpuState::Parked(until),
                None => {
                    kernel.on_cpu(cpu, Executor::after_park);
                    CpuState::Ready
                }
            },
        };
        self.stage
            .note(format_args!("{:?} cpu {cpu} {state:?}", kernel.life));
        kernel.set_state(cpu, state);
    }

    fn sample(&self, kernel: &Kernel) {
        if !kernel.host.is_dead() {
            for stats in kernel.satellite.stats().processes {
                self.stage.state(Fact::Usage(stats));
            }
        }
    }

    // ---- events ----

    fn living(&self, life: Life) -> Option<Arc<Kernel>> {
        let kernels = lock(&self.kernels);
        kernels
            .get(&life.kernel)
            .filter(|kernel| kernel.life == life)
            .cloned()
    }

    fn happen(&self, event: Event) {
        self.stage.note(format_args!("{event:?}"));
        match event {
            Event::Wake(life, cpu) => {
                if let Some(kernel) = self.living(life) {
                    kernel.host.wake(cpu);
                }
            }
            Event::Interrupt(life, cpu) => {
                if let Some(kernel) = self.living(life) {
                    kernel.host.interrupt(cpu);
                }
            }
            Event::ToSatellite(to, frame) => {
                if let Some(kernel) = self.living(to) {
                    self.tell(&kernel, frame);
                }
            }
            Event::ToCoordinator(from, frame) => lock(&self.coordinator).frame(from, frame),
            Event::Lost(life) => lock(&self.coordinator).lost(life),
            Event::Boot(kernel) => self.boot(kernel),
            Event::Start(plan) => lock(&self.coordinator).start(plan),
            Event::Crash(kernel) => self.crash(kernel),
            Event::Strike(plan) => lock(&self.coordinator).strike(plan),
        }
    }

    fn tell(&self, kernel: &Kernel, frame: ToSatellite) {
        let ToSatellite::PeerUp {
            kernel: peer,
            generation,
            ..
        } = frame
        else {
            kernel.outside(|satellite| satellite.control(frame));
            return;
        };
        let peer = Life {
            kernel: peer,
            generation,
        };
        let memory = lock(&self.memories).get(&peer).cloned();
        let memory = memory.expect("the coordinator tells of kernels that were booted");
        let linked = kernel.link_up(peer, memory);
        linked.expect("an export that its kernel has formatted can be opened");
    }

    fn boot(&self, number: KernelId) {
        let cpus = self.stage.rng().between(1, self.stage.scenario.cpus) as usize;
        let life = lock(&self.coordinator).next_life(number);
        let kernel = Kernel::boot(&self.stage, life, cpus).expect("the export is large enough");
        for program in workload::programs() {
            let loaded = kernel.satellite.load(digest_of(program), program.as_bytes());
            assert_eq!(loaded, Ok(()), "programs of the workload load");
        }
        lock(&self.memories).insert(life, kernel.memory.clone());
        lock(&self.kernels).insert(number, Arc::new(kernel));
        lock(&self.coordinator).ready(life);
    }

    fn crash(&self, number: KernelId) {
        let Some(kernel) = lock(&self.kernels).remove(&number) else {
            return;
        };
        kernel.host.die();
        self.stage.state(Fact::KernelDied(kernel.life));
        self.stage.to_coordinator(kernel.life, Event::Lost(kernel.life));
        lock(&self.graves).push(kernel);
    }

    /// Takes the crashed apart. Between turns of the first level no CPU is being stepped.
    fn bury(&self) {
        let graves = std::mem::take(&mut *lock(&self.graves));
        for kernel in graves {
            // What it leaves behind is nobody's any more; a kernel that was not crashed is looked at closer.
            kernel.bury();
        }
    }
}

/// Shuts a kernel down; whether all of it goes, down to its last byte.
fn ends(kernel: Arc<Kernel>) -> bool {
    let satellite = Arc::downgrade(&kernel.satellite);
    let stopped = kernel.bury();
    drop(kernel);
    stopped && satellite.strong_count() == 0
}

impl World {
    /// Compiles what all worlds share, so that the first one takes no longer than the others.
    pub fn prepare() {
        std::sync::LazyLock::force(&CONTRACTS);
    }
}
