//! What the executive knows, in the words of the control API.
//!
//! Read-only. Neighbour: `api::types` describes each field.

use super::{App, Executive, Member, MemberState, Satellite, SatelliteState};
use crate::{
    api,
    namespace::{Entry, Object},
    record::LogId,
    supervise::Now,
};
use satrap_abi::ProcessId;
use satrap_abi::control::ProcessStats;
use std::time::Duration;

impl Executive {
    /// From the start to the last first-generation satellite's registration.
    pub fn up_after(&self) -> Option<Now> {
        self.up_after
    }

    /// Whether no satellite boots or waits for its start any more.
    pub fn is_settled(&self) -> bool {
        let settled = |satellite: &Satellite| {
            matches!(satellite.state, SatelliteState::Running | SatelliteState::Failed)
        };
        self.satellites.values().all(settled)
    }

    /// Satellites.
    pub fn kernels(&self) -> Vec<api::Kernel> {
        self.satellites
            .values()
            .map(|satellite| self.kernel(satellite))
            .collect()
    }

    /// Applications with their processes.
    pub fn apps(&self, now: Now) -> Vec<api::App> {
        self.apps
            .iter()
            .map(|(id, app)| self.report_app(now, *id, app))
            .collect()
    }

    /// Names that begin with `prefix`.
    pub fn list_names(&self, prefix: &str) -> Vec<api::Name> {
        self.names
            .list(prefix)
            .map(|(path, entry)| self.name(path, entry))
            .collect()
    }

    /// Endpoints of all processes, by the latest figures.
    pub fn channels(&self) -> Vec<api::Channel> {
        let satellites = self.satellites.values();
        let figures = satellites.filter_map(|satellite| Some((satellite, satellite.figures.as_ref()?)));
        let channel = |(satellite, channel): (&Satellite, &satrap_abi::control::ChannelStats)| api::Channel {
            process: channel.process,
            process_name: self.full_name(ProcessId(channel.process)),
            kernel: satellite.life.kernel.0,
            name: channel.name.clone(),
            peer: channel.peer,
            endpoints: channel.endpoints,
            sent: channel.sent,
            received: channel.received,
            bytes_sent: channel.bytes_sent,
            bytes_received: channel.bytes_received,
            bytes_copied: channel.bytes_copied,
            copies: channel.copies,
        };
        figures
            .flat_map(|(satellite, figures)| figures.channels.iter().map(move |each| (satellite, each)))
            .map(channel)
            .collect()
    }

    /// Logs of the processes that `wanted` names: by id, `name`, or `app/name`; all of them without.
    pub fn logs_of(&self, wanted: Option<&str>) -> Vec<LogId> {
        let mut logs = Vec::new();
        for (id, app) in &self.apps {
            for (index, member) in app.members.iter().enumerate() {
                let name = member.plan.process_name();
                let named = |wanted: &str| {
                    let number = wanted.parse().ok().map(ProcessId);
                    name == wanted
                        || member.plan.request.name == wanted
                        || wanted.split_once('/') == Some((app.name.as_str(), name))
                        || number.is_some() && number == member.process
                };
                if wanted.is_none_or(named) {
                    logs.push((*id, index));
                }
            }
        }
        logs
    }

    fn kernel(&self, satellite: &Satellite) -> api::Kernel {
        let here = |(_, member): &(ProcessId, &Member)| member.kernel == Some(satellite.life);
        api::Kernel {
            id: satellite.life.kernel.0,
            generation: satellite.life.generation,
            platform: satellite.platform.clone(),
            state: match satellite.state {
                SatelliteState::Booting(_) => api::KernelState::Booting,
                SatelliteState::Running => api::KernelState::Running,
                SatelliteState::Restarting(_) => api::KernelState::Restarting,
                SatelliteState::Failed => api::KernelState::Failed,
            },
            cpus: satellite.cores.cpus.clone(),
            node: satellite.cores.node,
            pid: satellite.pid,
            boot_us: satellite.boot.map(|boot| boot.as_micros() as u64),
            load: satellite.load,
            processes: self.members().filter(here).count() as u32,
            stats: satellite.figures.clone(),
        }
    }

    fn report_app(&self, now: Now, id: u64, app: &App) -> api::App {
        api::App {
            id,
            name: app.name.clone(),
            version: app.version.clone(),
            state: match (app.ended.is_some(), app.ending) {
                (true, _) => api::AppState::Ended,
                (false, true) => api::AppState::Ending,
                (false, false) => api::AppState::Running,
            },
            attached: app.attached,
            age_ms: milliseconds(now.saturating_sub(app.started)),
            exit_code: app.exit_code(),
            processes: app
                .members
                .iter()
                .map(|member| self.process(now, id, app, member))
                .collect(),
        }
    }

    fn process(&self, now: Now, id: u64, app: &App, member: &Member) -> api::Process {
        let figures = self.figures_of(member).cloned().unwrap_or_default();
        api::Process {
            id: member.process.map_or(0, |process| process.0),
            app: id,
            app_name: app.name.clone(),
            name: member.plan.process_name().to_owned(),
            kernel: member.kernel.map(|life| life.kernel.0),
            state: match member.state {
                MemberState::Waiting(_) => api::ProcessState::Waiting,
                MemberState::Loading(_) | MemberState::Repairing | MemberState::Starting => {
                    api::ProcessState::Starting
                }
                MemberState::Running => api::ProcessState::Running,
                MemberState::Ending => api::ProcessState::Ending,
                MemberState::Exited => api::ProcessState::Exited,
            },
            priority: member.plan.process.priority,
            restarts: member.restarts,
            age_ms: milliseconds(now.saturating_sub(member.started)),
            cpu_ns: figures.cpu,
            memory: figures.memory,
            threads: figures.threads,
            handles: figures.handles,
            exit: member.exit.map(|exit| exit.to_string()),
            exit_code: member.exit.map(api::exit_code),
            placement: member.placement.clone(),
        }
    }

    fn figures_of(&self, member: &Member) -> Option<&ProcessStats> {
        let (life, process) = member.kernel.zip(member.process)?;
        let figures = self.satellites.get(&life.kernel)?.figures.as_ref()?;
        figures.processes.iter().find(|each| each.process == process.0)
    }

    fn name(&self, path: &str, entry: &Entry) -> api::Name {
        let (process, contract) = match entry.object {
            Object::Kernel => (None, None),
            Object::Service {
                process, contract, ..
            } => (Some(process.0), Some(contract)),
        };
        api::Name {
            path: path.to_owned(),
            kernel: entry.owner.kernel.0,
            generation: entry.owner.generation,
            process,
            contract: contract.map(|digest| digest.to_string()),
            contract_name: contract
                .and_then(|digest| self.contracts.name(digest))
                .map(str::to_owned),
            attributes: entry.attributes.clone(),
        }
    }

    fn full_name(&self, process: ProcessId) -> String {
        let Some((app, index)) = self.processes.get(&process) else {
            return String::new();
        };
        let app = &self.apps[app];
        format!("{}/{}", app.name, app.members[*index].plan.process_name())
    }
}

fn milliseconds(time: Duration) -> u64 {
    time.as_millis() as u64
}
