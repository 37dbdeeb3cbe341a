//! Programs on satellites: loading, and what follows when one is refused.
//!
//! A program is sent to a satellite once and spawned there any number of times.

use super::{Effect, Executive, MemberState};
use crate::{api::Event, install::Program, namespace::KernelLife, supervise::Now};
use satrap_abi::control::{ProcessSpec, ToSatellite};
use satrap_abi::{Digest, Errno, ExitStatus, ProcessId};
use std::sync::Arc;

impl Executive {
    /// Spawns a process that has its place, once its program is loaded there.
    pub(super) fn start(&mut self, life: KernelLife, process: ProcessId) {
        let Some(member) = self.member(process) else {
            return;
        };
        let platform = &self.satellites[&life.kernel].platform;
        let Some(artifact) = member.program.for_platform(platform) else {
            return self.ended(process, ExitStatus::SpawnFailed(Errno::Unsupported));
        };
        let digest = artifact.digest;
        let load = Effect::Load(life, artifact.clone());
        let loaded = self
            .satellite_mut(life)
            .and_then(|satellite| satellite.programs.get(&digest).copied());
        self.set_state(process, MemberState::Loading(digest));
        match loaded {
            Some(true) => self.spawn(life, process, digest),
            Some(false) => {}
            None => {
                if let Some(satellite) = self.satellite_mut(life) {
                    satellite.programs.insert(digest, false);
                }
                self.effects.push(load);
            }
        }
    }

    pub(super) fn loaded(&mut self, life: KernelLife, artifact: Digest, result: Result<(), Errno>) {
        let waiting = self.waiting_for(life, artifact);
        let Some(satellite) = self.satellite_mut(life) else {
            return;
        };
        match result {
            Ok(()) => {
                satellite.programs.insert(artifact, true);
                for process in waiting {
                    self.spawn(life, process, artifact);
                }
            }
            Err(errno) => {
                satellite.programs.remove(&artifact);
                for process in waiting {
                    self.refused(life, process, errno);
                }
            }
        }
    }

    /// A refused artifact was made again, or could not be.
    pub fn repaired(&mut self, now: Now, old: &Arc<Program>, result: Result<Arc<Program>, String>) {
        self.now = now;
        let waiting: Vec<(KernelLife, ProcessId)> = self
            .members()
            .filter(|(_, member)| member.state == MemberState::Repairing && Arc::ptr_eq(&member.program, old))
            .filter_map(|(process, member)| Some((member.kernel?, process)))
            .collect();
        for (life, process) in waiting {
            match &result {
                Ok(program) => {
                    if let Some(member) = self.member_mut(process) {
                        member.program = program.clone();
                    }
                    self.start(life, process);
                }
                Err(reason) => {
                    let path = old.path.display();
                    self.tell_about(process, format!("{path} could not be compiled again: {reason}"));
                    self.ended(process, ExitStatus::SpawnFailed(Errno::Invalid));
                }
            }
        }
    }

    /// A satellite refuses a program. Out of memory is what it is; anything else may be a corrupt artifact,
    /// which is made again once.
    fn refused(&mut self, life: KernelLife, process: ProcessId, errno: Errno) {
        let Some(member) = self.member_mut(process) else {
            return;
        };
        if errno == Errno::NoMemory || member.repaired {
            return self.ended(process, ExitStatus::SpawnFailed(errno));
        }
        member.repaired = true;
        member.state = MemberState::Repairing;
        let program = member.program.clone();
        let text = format!(
            "/kernel/{} refused the artifact of {} ({errno}): it is compiled again",
            life.kernel,
            program.path.display()
        );
        self.tell_about(process, text);
        let asked = |effect: &Effect| matches!(effect, Effect::Repair(other) if Arc::ptr_eq(other, &program));
        if !self.effects.iter().any(asked) {
            self.effects.push(Effect::Repair(program));
        }
    }

    fn spawn(&mut self, life: KernelLife, process: ProcessId, artifact: Digest) {
        let Some(member) = self.member_mut(process) else {
            return;
        };
        member.state = MemberState::Starting;
        let plan = &member.plan;
        let args = std::iter::once(member.program.name()).chain(plan.process.args.iter().cloned());
        let spec = ProcessSpec {
            process,
            name: plan.process_name().to_owned(),
            artifact,
            args: args.collect(),
            limits: plan.process.limits,
            channels: plan.grants(),
            registers: plan.process.registers.clone(),
            unrestricted: plan.process.unrestricted,
            priority: plan.process.priority,
        };
        self.send(life, ToSatellite::Spawn(spec));
    }

    pub(super) fn spawned(&mut self, from: KernelLife, process: ProcessId, result: Result<(), Errno>) {
        let now = self.now;
        let Some(member) = self.member_of(from, process) else {
            return;
        };
        if let Err(errno) = result {
            return self.ended(process, ExitStatus::SpawnFailed(errno));
        }
        if member.state == MemberState::Starting {
            member.state = MemberState::Running;
        }
        member.supervision.started(now);
        member.started = now;
        let name = member.plan.process_name().to_owned();
        let Some((app, _)) = self.processes.get(&process).copied() else {
            return;
        };
        self.record.event(Event::ProcessStarted {
            app,
            process: process.0,
            name,
            kernel: from.kernel.0,
        });
    }

    /// Processes on a satellite whose start waits for an artifact.
    fn waiting_for(&self, life: KernelLife, artifact: Digest) -> Vec<ProcessId> {
        let waits = MemberState::Loading(artifact);
        let members = self
            .members()
            .filter(|(_, member)| member.kernel == Some(life) && member.state == waits);
        members.map(|(process, _)| process).collect()
    }
}
