//! The executive: everything that the coordinator knows and decides, as one state machine without I/O.
//!
//! Time is an argument, frames come in, [`Effect`]s go out and are done by `runtime` in order. Neighbours in
//! this folder, one concern each: satellites, programs, names, processes, apps, figures, reports.

mod apps;
mod figures;
mod names;
mod processes;
mod programs;
mod reports;
mod satellites;

pub use apps::{App, AppRefusal};
pub use processes::{Member, MemberState};
pub use satellites::{BOOT_TIMEOUT, Satellite, SatelliteState};

use crate::{
    contracts::ContractBook,
    install::{Program, StoredArtifact},
    namespace::{KernelLife, Namespace},
    record::Record,
    supervise::Now,
};
use satrap_abi::artifact::Key;
use satrap_abi::control::{ToCoordinator, ToSatellite};
use satrap_abi::{KernelId, ProcessId};
use std::{collections::BTreeMap, os::fd::OwnedFd, sync::Arc, time::Duration};

/// How long satellites may take to shut down.
pub const STOP_TIMEOUT: Duration = Duration::from_secs(1);

/// What has to be done in the world.
#[derive(Debug)]
pub enum Effect {
    /// Start a satellite. What it owns follows as its first frame.
    Launch(KernelLife),
    /// Send a frame, with files.
    Send(KernelLife, ToSatellite, Vec<Arc<OwnedFd>>),
    /// Send an artifact.
    Load(KernelLife, StoredArtifact),
    /// Close the control socket and make sure that the satellite is dead.
    Close(KernelLife),
    /// Make a program's artifacts again: a satellite has refused one.
    Repair(Arc<Program>),
}

/// What stays the same for the coordinator's life.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Key under which artifacts are authenticated.
    pub key: Key,
    /// Size of each satellite's export, in bytes.
    pub export: u64,
}

/// The state machine.
#[derive(Debug)]
pub struct Executive {
    settings: Settings,
    /// The time of the call that is being handled.
    now: Now,
    names: Namespace,
    satellites: BTreeMap<KernelId, Satellite>,
    apps: BTreeMap<u64, App>,
    /// Processes that were spawned or are about to be: application and place in it.
    processes: BTreeMap<ProcessId, (u64, usize)>,
    record: Record,
    contracts: ContractBook,
    effects: Vec<Effect>,
    next_process: u64,
    next_app: u64,
    next_figures: Now,
    up_after: Option<Now>,
    /// Since when it is shutting down.
    stopping: Option<Now>,
}

impl Executive {
    /// A coordinator that knows of nothing yet.
    pub fn new(settings: Settings) -> Executive {
        Executive {
            settings,
            now: Now::ZERO,
            names: Namespace::default(),
            satellites: BTreeMap::new(),
            apps: BTreeMap::new(),
            processes: BTreeMap::new(),
            record: Record::default(),
            contracts: ContractBook::default(),
            effects: Vec::new(),
            next_process: 1,
            next_app: 1,
            next_figures: Now::ZERO,
            up_after: None,
            stopping: None,
        }
    }

    /// What has to be done now, in order. Taking it leaves none.
    pub fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    /// What happened and what was printed.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// The same, to write into.
    pub fn record_mut(&mut self) -> &mut Record {
        &mut self.record
    }

    /// A frame from a satellite. One of an earlier life is passed over.
    pub fn frame(&mut self, now: Now, from: KernelLife, frame: ToCoordinator, files: Vec<OwnedFd>) {
        self.now = now;
        if !self.is_current(from) {
            return;
        }
        match frame {
            ToCoordinator::Ready { platform, export } => self.ready(from, platform, export, files),
            ToCoordinator::Loaded { artifact, result } => self.loaded(from, artifact, result),
            ToCoordinator::Spawned { process, result } => self.spawned(from, process, result),
            ToCoordinator::Exited { process, status } => self.exited(from, process, status),
            ToCoordinator::Console {
                process,
                stream,
                bytes,
            } => self.printed(from, process, stream, bytes),
            ToCoordinator::LinkFailed {
                kernel,
                generation,
                reason,
            } => {
                self.link_failed(from, KernelLife { kernel, generation }, &reason);
            }
            ToCoordinator::Stats(stats) => self.figures_came(from, stats),
            naming => self.naming(from, naming),
        }
    }

    /// Does what is due: restarts, placements, timeouts, figures.
    pub fn tick(&mut self, now: Now) {
        self.now = now;
        if let Some(since) = self.stopping {
            return self.stop_stragglers(since);
        }
        self.restart_satellites();
        self.place_waiting();
        self.ask_figures_when_due();
    }

    /// When [`tick`](Self::tick) must be called at the latest.
    pub fn next_deadline(&self) -> Option<Now> {
        if let Some(since) = self.stopping {
            return Some(since + STOP_TIMEOUT);
        }
        [self.satellites_due(), self.processes_due(), self.figures_due()]
            .into_iter()
            .flatten()
            .min()
    }

    /// Ends every process and every satellite.
    pub fn shut_down(&mut self, now: Now) {
        self.now = now;
        if self.stopping.is_none() {
            self.stopping = Some(now);
            for life in self.lives() {
                self.send(life, ToSatellite::Shutdown);
            }
        }
    }

    /// Ends satellites that do not end by themselves.
    fn stop_stragglers(&mut self, since: Now) {
        if self.now >= since + STOP_TIMEOUT {
            for life in self.lives() {
                self.lost(self.now, life, "it did not shut down");
            }
        }
    }

    /// Whether it is shutting down.
    pub fn is_stopping(&self) -> bool {
        self.stopping.is_some()
    }

    fn send(&mut self, to: KernelLife, frame: ToSatellite) {
        self.effects.push(Effect::Send(to, frame, Vec::new()));
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
