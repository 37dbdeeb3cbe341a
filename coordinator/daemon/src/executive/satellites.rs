//! Satellites: boot, the exchange of peers, death, and the next life.
//!
//! The order of a satellite's obituary matters: the next life first, then its peers, names and processes.

use super::{Effect, Executive};
use crate::{
    api::Event,
    namespace::KernelLife,
    supervise::{Now, Supervision, Verdict},
    topology::CoreSet,
};
use satrap_abi::control::{KernelStats, ResourceMap, ToSatellite};
use satrap_abi::{Digest, ExitStatus, KernelId};
use satrap_manifest::Restart;
use std::{collections::BTreeMap, os::fd::OwnedFd, sync::Arc, time::Duration};

/// Longest time from launch to ready.
pub const BOOT_TIMEOUT: Duration = Duration::from_secs(10);
/// Restarts of one satellite allowed in a minute.
const RESTART_LIMIT: u32 = 10;
/// What comes with `Ready`: export, park doorbell, interrupt doorbell.
const READY_FILES: usize = 3;

/// A satellite, over all its lives.
#[derive(Debug)]
pub struct Satellite {
    /// Its present life.
    pub life: KernelLife,
    /// Its cores.
    pub cores: CoreSet,
    /// How it is.
    pub state: SatelliteState,
    /// Its operating-system process.
    pub pid: Option<u32>,
    /// Platform name; empty until first ready.
    pub platform: String,
    /// From launch to ready in this life.
    pub boot: Option<Duration>,
    /// Share of its CPUs' time spent on work lately.
    pub load: f64,
    /// Processes placed here since `load` was measured.
    pub fresh: u32,
    /// Latest figures.
    pub figures: Option<KernelStats>,
    /// Whether figures were asked for and did not come yet.
    pub asked: bool,
    /// Whether this life of it has accused a peer.
    accuser: bool,
    /// Its programs: whether each is loaded yet.
    pub(super) programs: BTreeMap<Digest, bool>,
    pub(super) sample: Option<(u64, u64)>,
    supervision: Supervision,
    files: Vec<Arc<OwnedFd>>,
    export: u64,
}

/// How a satellite is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SatelliteState {
    /// Launched at that time, not ready yet.
    Booting(Now),
    /// Ready.
    Running,
    /// To be launched again at that time.
    Restarting(Now),
    /// Given up.
    Failed,
}

impl Satellite {
    fn is_running(&self) -> bool {
        self.state == SatelliteState::Running
    }

    fn peer_up(&self) -> (ToSatellite, Vec<Arc<OwnedFd>>) {
        let frame = ToSatellite::PeerUp {
            kernel: self.life.kernel,
            generation: self.life.generation,
            export: self.export,
        };
        (frame, self.files.clone())
    }
}

impl Executive {
    /// Launches one satellite on each core set, numbered from 1.
    pub fn boot(&mut self, now: Now, sets: Vec<CoreSet>) {
        self.now = now;
        for (number, cores) in (1..).zip(sets) {
            let life = KernelLife {
                kernel: KernelId(number),
                generation: 0,
            };
            let satellite = Satellite {
                life,
                cores,
                state: SatelliteState::Restarting(now),
                pid: None,
                platform: String::new(),
                boot: None,
                load: 0.0,
                fresh: 0,
                figures: None,
                asked: false,
                accuser: false,
                programs: BTreeMap::new(),
                sample: None,
                supervision: Supervision::new(Restart::Always, RESTART_LIMIT, now),
                files: Vec::new(),
                export: 0,
            };
            self.satellites.insert(life.kernel, satellite);
            self.launch(life);
        }
    }

    /// A launched satellite's operating-system process.
    pub fn launched(&mut self, life: KernelLife, pid: Option<u32>) {
        if let Some(satellite) = self.satellite_mut(life) {
            satellite.pid = pid;
        }
    }

    /// A satellite is gone, whoever found out. Everything of it goes with it, and it is launched again unless
    /// it dies too often. Of a life that is known to be gone nothing more is heard.
    pub fn lost(&mut self, now: Now, life: KernelLife, reason: &str) {
        self.now = now;
        let stopping = self.stopping.is_some();
        let Some(satellite) = self.satellite_mut(life) else {
            return;
        };
        if !matches!(
            satellite.state,
            SatelliteState::Booting(_) | SatelliteState::Running
        ) {
            return;
        }
        let verdict = match stopping {
            true => Verdict::GiveUp,
            // A satellite has no exit that would be right: each is a failure of its own.
            false => satellite.supervision.ended(now, ExitStatus::Code(1)),
        };
        satellite.state = match verdict {
            Verdict::RestartAt(at) => SatelliteState::Restarting(at),
            Verdict::Stay | Verdict::GiveUp => SatelliteState::Failed,
        };
        satellite.files.clear();
        satellite.pid = None;
        satellite.asked = false;
        satellite.accuser = false;
        self.effects.push(Effect::Close(life));
        if !stopping {
            self.mourn(life, verdict, reason);
        }
    }

    /// A peer's accusation: what a satellite wrote into its own export was garbage. Only it writes there, and
    /// without a link it is no use to the others, so it starts anew. Whether it is true nobody can tell: whoever
    /// accuses a second time is suspect itself and starts anew as well, so that one satellite cannot keep all
    /// others down.
    pub(super) fn link_failed(&mut self, from: KernelLife, accused: KernelLife, reason: &str) {
        if self.satellite_mut(accused).is_none() {
            return;
        }
        let Some(accuser) = self.satellite_mut(from) else {
            return;
        };
        let again = std::mem::replace(&mut accuser.accuser, true);
        let reason = format!(
            "it wrote garbage on its link to /kernel/{}: {reason}",
            from.kernel
        );
        self.lost(self.now, accused, &reason);
        if again {
            let reason = format!("it accused a second peer, /kernel/{}", accused.kernel);
            self.lost(self.now, from, &reason);
        }
    }

    /// Answers `Ready`: introduces it to its peers, and them to it.
    pub(super) fn ready(&mut self, life: KernelLife, platform: String, export: u64, files: Vec<OwnedFd>) {
        let now = self.now;
        let Some(satellite) = self.satellites.get_mut(&life.kernel) else {
            return;
        };
        let SatelliteState::Booting(since) = satellite.state else {
            return self.lost(now, life, "it said twice that it is ready");
        };
        if files.len() != READY_FILES {
            let reason = format!(
                "it came with {} file descriptors instead of {READY_FILES}",
                files.len()
            );
            return self.lost(now, life, &reason);
        }
        let boot = now.saturating_sub(since);
        satellite.state = SatelliteState::Running;
        satellite.supervision.started(now);
        satellite.boot = Some(boot);
        satellite.platform.clone_from(&platform);
        satellite.export = export;
        satellite.files = files.into_iter().map(Arc::new).collect();
        self.introduce(life);
        let attributes = self.kernel_attributes(life);
        let registered = self.names.add_kernel(life, attributes);
        self.record.event(Event::SatelliteUp {
            kernel: life.kernel.0,
            generation: life.generation,
            platform,
            boot_us: boot.as_micros() as u64,
        });
        self.perform(registered);
        if self.up_after.is_none() && self.satellites.values().all(Satellite::is_running) {
            self.up_after = Some(now);
        }
        self.place_waiting();
    }

    pub(super) fn restart_satellites(&mut self) {
        let now = self.now;
        let mut due = Vec::new();
        let mut late = Vec::new();
        for satellite in self.satellites.values() {
            match satellite.state {
                SatelliteState::Restarting(at) if at <= now => due.push(satellite.life),
                SatelliteState::Booting(since) if now >= since + BOOT_TIMEOUT => late.push(satellite.life),
                _ => {}
            }
        }
        for life in late {
            self.lost(
                now,
                life,
                &format!("it was not ready within {} s", BOOT_TIMEOUT.as_secs()),
            );
        }
        for last in due {
            self.relaunch(last);
        }
    }

    pub(super) fn satellites_due(&self) -> Option<Now> {
        let due = |satellite: &Satellite| match satellite.state {
            SatelliteState::Booting(since) => Some(since + BOOT_TIMEOUT),
            SatelliteState::Restarting(at) => Some(at),
            SatelliteState::Running | SatelliteState::Failed => None,
        };
        self.satellites.values().filter_map(due).min()
    }

    /// Lives that have a control socket.
    pub(super) fn lives(&self) -> Vec<KernelLife> {
        let live = |satellite: &&Satellite| {
            matches!(
                satellite.state,
                SatelliteState::Booting(_) | SatelliteState::Running
            )
        };
        self.satellites
            .values()
            .filter(live)
            .map(|satellite| satellite.life)
            .collect()
    }

    pub(super) fn is_current(&self, life: KernelLife) -> bool {
        self.satellites
            .get(&life.kernel)
            .is_some_and(|satellite| satellite.life == life)
    }

    pub(super) fn satellite_mut(&mut self, life: KernelLife) -> Option<&mut Satellite> {
        self.satellites
            .get_mut(&life.kernel)
            .filter(|satellite| satellite.life == life)
    }

    /// Whether some satellite will be ready soon: placement waits for it.
    pub(super) fn is_booting(&self) -> bool {
        let booting = |satellite: &Satellite| matches!(satellite.state, SatelliteState::Booting(_));
        self.satellites.values().any(booting)
    }

    fn launch(&mut self, life: KernelLife) {
        let now = self.now;
        let resources = ResourceMap {
            kernel: life.kernel,
            generation: life.generation,
            cpus: self.satellites[&life.kernel].cores.cpus.clone(),
            export: self.settings.export,
            key: self.settings.key,
        };
        if let Some(satellite) = self.satellite_mut(life) {
            satellite.state = SatelliteState::Booting(now);
        }
        self.effects.push(Effect::Launch(life));
        self.send(life, ToSatellite::Boot(resources));
    }

    fn relaunch(&mut self, last: KernelLife) {
        let Some(satellite) = self.satellite_mut(last) else {
            return;
        };
        satellite.life.generation += 1;
        satellite.boot = None;
        satellite.figures = None;
        satellite.sample = None;
        satellite.load = 0.0;
        satellite.fresh = 0;
        satellite.programs.clear();
        let life = satellite.life;
        self.launch(life);
    }

    /// Everything that a satellite's death means to the others. The next life is launched first: it boots
    /// while the rest is done.
    fn mourn(&mut self, gone: KernelLife, verdict: Verdict, reason: &str) {
        let kernel = gone.kernel;
        self.record.event(Event::SatelliteDown {
            kernel: kernel.0,
            generation: gone.generation,
            reason: reason.to_owned(),
        });
        self.record.notice(match verdict {
            Verdict::RestartAt(_) => format!("/kernel/{kernel} died and is started again: {reason}"),
            _ => format!(
                "/kernel/{kernel} died more than {RESTART_LIMIT} times in a minute and stays down: {reason}; see \
                 what its standard error says, then start satrap again"
            ),
        });
        for peer in self.lives() {
            let down = ToSatellite::PeerDown {
                kernel,
                generation: gone.generation,
            };
            self.send(peer, down);
        }
        let actions = self.names.kernel_gone(gone);
        self.perform(actions);
        if matches!(verdict, Verdict::RestartAt(at) if at <= self.now) {
            self.relaunch(gone);
        }
        self.processes_orphaned(gone, reason);
        self.place_waiting();
    }

    fn introduce(&mut self, newcomer: KernelLife) {
        let (about_newcomer, newcomers_files) = self.satellites[&newcomer.kernel].peer_up();
        for peer in self
            .satellites
            .values()
            .filter(|satellite| satellite.is_running())
        {
            if peer.life == newcomer {
                continue;
            }
            let (about_peer, peers_files) = peer.peer_up();
            self.effects.push(Effect::Send(newcomer, about_peer, peers_files));
            let news = (about_newcomer.clone(), newcomers_files.clone());
            self.effects.push(Effect::Send(peer.life, news.0, news.1));
        }
    }

    fn kernel_attributes(&self, life: KernelLife) -> BTreeMap<String, String> {
        let satellite = &self.satellites[&life.kernel];
        let cpus: Vec<String> = satellite.cores.cpus.iter().map(u32::to_string).collect();
        let mut attributes = BTreeMap::from([
            ("platform".to_owned(), satellite.platform.clone()),
            ("cpus".to_owned(), cpus.join(",")),
        ]);
        if let Some(node) = satellite.cores.node {
            attributes.insert("node".to_owned(), node.to_string());
        }
        attributes
    }
}
