//! Processes: placement, the end of one, and its next start.
//!
//! Placement itself is `satrap_placement`'s; here stands what it is asked and what follows from the answer.

use super::Executive;
use crate::{
    api::{Event, exit_code},
    install::Program,
    namespace::{KernelLife, Object},
    plan::ProcessPlan,
    supervise::{Now, Supervision, Verdict},
};
use satrap_abi::control::Stream;
use satrap_abi::{Digest, ExitStatus, ProcessId};
use satrap_placement::{Decision, Kernel, World};
use std::{sync::Arc, time::SystemTime};

/// A process of an application, over all its restarts.
#[derive(Debug)]
pub struct Member {
    /// What it shall be.
    pub plan: ProcessPlan,
    /// Its installed program.
    pub program: Arc<Program>,
    /// How it is.
    pub state: MemberState,
    /// Its present or last id.
    pub process: Option<ProcessId>,
    /// Its present or last place.
    pub kernel: Option<KernelLife>,
    /// How often it was started again.
    pub restarts: u32,
    /// When it last began to run.
    pub started: Now,
    /// How it ended last.
    pub exit: Option<ExitStatus>,
    /// Why it stands where it stands, in one line.
    pub placement: String,
    /// Whether its artifact was made again already.
    pub(super) repaired: bool,
    pub(super) supervision: Supervision,
}

/// How a process is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MemberState {
    /// Waits for its placement, not before that time.
    Waiting(Now),
    /// Placed; its satellite loads that artifact.
    Loading(Digest),
    /// Placed; its artifact is made again.
    Repairing,
    /// Its satellite was told to spawn it.
    Starting,
    /// Runs.
    Running,
    /// Was asked to end.
    Ending,
    /// Has ended for good.
    Exited,
}

impl Member {
    /// A process that waits for its first placement.
    pub fn new(plan: ProcessPlan, program: Arc<Program>, now: Now) -> Member {
        Member {
            supervision: Supervision::new(plan.process.restart, plan.process.restart_limit, now),
            plan,
            program,
            state: MemberState::Waiting(now),
            process: None,
            kernel: None,
            restarts: 0,
            started: now,
            exit: None,
            placement: String::new(),
            repaired: false,
        }
    }

    /// Whether it has a place and has not ended.
    pub fn is_placed(&self) -> bool {
        !matches!(self.state, MemberState::Waiting(_) | MemberState::Exited)
    }
}

impl Executive {
    /// The machine as placement sees it: kernels that run, and what is placed on them.
    pub fn world(&self) -> World {
        let running = self
            .satellites
            .values()
            .filter(|satellite| satellite.boot.is_some());
        let mut world = World {
            kernels: running
                .filter(|satellite| satellite.state == super::SatelliteState::Running)
                .map(|satellite| Kernel {
                    id: satellite.life.kernel,
                    platforms: vec![satellite.platform.clone()],
                    cpus: satellite.cores.cpus.len() as u32,
                    load: satellite.load,
                    fresh: 0,
                })
                .collect(),
            ..World::default()
        };
        for (_, member) in self.members() {
            if let Some(life) = member.kernel {
                world.record(&member.plan.request, life.kernel);
            }
        }
        self.add_undeclared_services(&mut world);
        for kernel in &mut world.kernels {
            kernel.fresh = self.satellites[&kernel.id].fresh;
        }
        world
    }

    /// Places whatever waits for it, application by application. While a satellite boots everything waits,
    /// so that what was placed apart is not crowded together for the sake of some milliseconds.
    pub(super) fn place_waiting(&mut self) {
        if self.is_booting() {
            return;
        }
        let apps: Vec<u64> = self.apps.keys().copied().collect();
        for app in apps {
            self.place_app(app);
        }
    }

    fn place_app(&mut self, app: u64) {
        let now = self.now;
        let Some(members) = self.apps.get(&app).map(|app| &app.members) else {
            return;
        };
        let waits = |member: &Member| matches!(member.state, MemberState::Waiting(at) if at <= now);
        let waiting: Vec<usize> = (0..members.len())
            .filter(|index| waits(&members[*index]))
            .collect();
        if waiting.is_empty() {
            return;
        }
        let requests: Vec<_> = waiting
            .iter()
            .map(|index| members[*index].plan.request.clone())
            .collect();
        let plan = satrap_placement::plan(&self.world(), &requests);
        if !plan.refusals.is_empty() {
            return self.unplaceable(app, &plan.refusals);
        }
        let mut placed = Vec::new();
        for decision in &plan.decisions {
            let named = |index: &&usize| requests[position(&waiting, **index)].process == decision.process;
            if let Some(index) = waiting.iter().find(named) {
                placed.extend(self.assign(app, *index, decision));
            }
        }
        for (life, process) in placed {
            self.start(life, process);
        }
    }

    /// Gives a process its place and a new id.
    fn assign(&mut self, app: u64, index: usize, decision: &Decision) -> Option<(KernelLife, ProcessId)> {
        let satellite = self.satellites.get_mut(&decision.kernel)?;
        satellite.fresh += 1;
        let life = satellite.life;
        let member = self.apps.get_mut(&app)?.members.get_mut(index)?;
        let process = ProcessId(self.next_process);
        self.next_process += 1;
        member.process = Some(process);
        member.kernel = Some(life);
        member.placement = format!(
            "on kernel {}, decided by {}",
            decision.kernel, decision.decided_by
        );
        // A state with a place; `start` says which.
        member.state = MemberState::Starting;
        self.processes.insert(process, (app, index));
        self.record.event(Event::Placed {
            app,
            process: process.0,
            name: decision.process.clone(),
            kernel: decision.kernel.0,
            reason: member.placement.clone(),
        });
        Some((life, process))
    }

    /// Services that processes registered without having declared them.
    fn add_undeclared_services(&self, world: &mut World) {
        for (path, entry) in self.names.list("/") {
            let Object::Service { process, .. } = entry.object else {
                continue;
            };
            let declared = |member: &Member| member.plan.request.registers.iter().any(|own| own == path);
            if !self.member(process).is_some_and(declared) {
                let counts = world.services.entry(path.to_owned()).or_default();
                *counts.entry(entry.owner.kernel).or_default() += 1;
            }
        }
    }

    pub(super) fn processes_due(&self) -> Option<Now> {
        if self.is_booting() {
            return None;
        }
        let members = self.apps.values().flat_map(|app| &app.members);
        let due = members.filter_map(|member| match member.state {
            MemberState::Waiting(at) => Some(at),
            _ => None,
        });
        due.min()
    }

    /// Kills a process; it is not started again.
    ///
    /// # Errors
    /// There is no such process.
    pub fn kill(&mut self, now: Now, process: ProcessId) -> Result<(), String> {
        self.now = now;
        let place = self.processes.get(&process).copied();
        let (app, index) =
            place.ok_or_else(|| format!("there is no process {process}; `satrap ps` lists them"))?;
        self.end_member(app, index);
        self.settle(app);
        Ok(())
    }

    pub(super) fn printed(&mut self, from: KernelLife, process: ProcessId, stream: Stream, bytes: Vec<u8>) {
        if self.member_of(from, process).is_none() {
            return;
        }
        let log = self.processes[&process];
        let wall = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or_default();
        self.record
            .output(log, process, stream, bytes, wall.as_millis() as u64);
    }

    pub(super) fn exited(&mut self, from: KernelLife, process: ProcessId, status: ExitStatus) {
        if self.member_of(from, process).is_some() {
            self.ended(process, status);
        }
    }

    /// A satellite died under its processes.
    pub(super) fn processes_orphaned(&mut self, gone: KernelLife, reason: &str) {
        let orphans: Vec<ProcessId> = self
            .members()
            .filter(|(_, member)| member.kernel == Some(gone))
            .map(|(process, _)| process)
            .collect();
        for process in orphans {
            let status = ExitStatus::KernelDied;
            let words = format!("{status} (/kernel/{}: {reason})", gone.kernel);
            self.ended_with(process, status, words);
        }
    }

    /// A process has ended, or never began.
    pub(super) fn ended(&mut self, process: ProcessId, status: ExitStatus) {
        let place = self.processes.get(&process);
        let app = place.and_then(|(app, _)| self.apps.get(app));
        let words = match status {
            // Not by anybody's hand, which would be news.
            ExitStatus::Killed if app.is_some_and(|app| app.ending) => {
                "ended with its application".to_owned()
            }
            status => status.to_string(),
        };
        self.ended_with(process, status, words);
    }

    /// A process has ended, in these words: its names go, and its supervision decides.
    fn ended_with(&mut self, process: ProcessId, status: ExitStatus, words: String) {
        let now = self.now;
        let Some((app, index)) = self.processes.remove(&process) else {
            return;
        };
        let Some(owner) = self.apps.get_mut(&app) else {
            return;
        };
        let whole_app_ends = owner.ending;
        let Some(member) = owner.members.get_mut(index) else {
            return;
        };
        let life = member.kernel;
        member.exit = Some(status);
        let verdict = match member.state {
            MemberState::Ending => Verdict::Stay,
            _ => member.supervision.ended(now, status),
        };
        member.state = match verdict {
            Verdict::RestartAt(at) => MemberState::Waiting(at),
            Verdict::Stay | Verdict::GiveUp => MemberState::Exited,
        };
        let name = member.plan.process_name().to_owned();
        let limit = member.plan.process.restart_limit;
        let restart_ms = match verdict {
            Verdict::RestartAt(at) => {
                member.restarts += 1;
                Some(at.saturating_sub(now).as_millis() as u64)
            }
            Verdict::Stay | Verdict::GiveUp => None,
        };
        self.record.event(Event::ProcessExited {
            app,
            process: process.0,
            name: name.clone(),
            status: words,
            code: exit_code(status),
            restart_ms,
        });
        if verdict == Verdict::GiveUp {
            let text = format!("{name} {status}, more than {limit} times in a minute: it stays down");
            self.record.notice_about(app, text);
        }
        if restart_ms.is_none() && !whole_app_ends {
            self.note_exit_code(app, exit_code(status));
        }
        if let Some(life) = life {
            let actions = self.names.process_gone(life, process);
            self.perform(actions);
        }
        self.settle(app);
    }

    /// Tells the operator, and whoever waits for the process's application, something about it.
    pub(super) fn tell_about(&mut self, process: ProcessId, text: String) {
        match self.processes.get(&process) {
            Some((app, _)) => self.record.notice_about(*app, text),
            None => self.record.notice(text),
        }
    }

    /// Processes that have a place, with their ids.
    pub(super) fn members(&self) -> impl Iterator<Item = (ProcessId, &Member)> {
        let place = |(process, (app, index)): (&ProcessId, &(u64, usize))| {
            Some((*process, self.apps.get(app)?.members.get(*index)?))
        };
        self.processes.iter().filter_map(place)
    }

    pub(super) fn member(&self, process: ProcessId) -> Option<&Member> {
        let (app, index) = self.processes.get(&process)?;
        self.apps.get(app)?.members.get(*index)
    }

    pub(super) fn member_mut(&mut self, process: ProcessId) -> Option<&mut Member> {
        let (app, index) = self.processes.get(&process)?;
        self.apps.get_mut(app)?.members.get_mut(*index)
    }

    /// The process, if it is on that satellite: others may say nothing about it.
    pub(super) fn member_of(&mut self, life: KernelLife, process: ProcessId) -> Option<&mut Member> {
        self.member_mut(process)
            .filter(|member| member.kernel == Some(life))
    }

    pub(super) fn set_state(&mut self, process: ProcessId, state: MemberState) {
        if let Some(member) = self.member_mut(process) {
            member.state = state;
        }
    }
}

/// Where `wanted` stands in a list that holds it.
fn position(list: &[usize], wanted: usize) -> usize {
    list.iter().position(|each| *each == wanted).unwrap_or(0)
}
