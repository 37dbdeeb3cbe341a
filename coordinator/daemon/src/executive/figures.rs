//! Satellites' figures: when they are asked for, and the load that placement goes by.
//!
//! Load is measured between two samples; what was placed since then is counted apart.

use super::{Executive, MemberState, SatelliteState};
use crate::{namespace::KernelLife, supervise::Now};
use satrap_abi::control::{KernelStats, ToSatellite};
use std::time::Duration;

/// How often a satellite is asked while it has processes. An idle machine is left alone.
const EVERY: Duration = Duration::from_secs(1);
/// Shortest time over which a load is measured, in ns.
const SAMPLE_MIN: u64 = 50_000_000;

impl Executive {
    /// Asks every satellite for its figures now.
    pub fn ask_figures(&mut self) {
        let running: Vec<KernelLife> = self
            .satellites
            .values_mut()
            .filter(|satellite| satellite.state == SatelliteState::Running && !satellite.asked)
            .map(|satellite| {
                satellite.asked = true;
                satellite.life
            })
            .collect();
        for life in running {
            self.send(life, ToSatellite::StatsRequest);
        }
    }

    /// Whether figures that were asked for have not come yet.
    pub fn awaits_figures(&self) -> bool {
        self.satellites.values().any(|satellite| satellite.asked)
    }

    pub(super) fn figures_came(&mut self, from: KernelLife, figures: KernelStats) {
        let Some(satellite) = self.satellite_mut(from) else {
            return;
        };
        satellite.asked = false;
        let (uptime, busy) = satellite.sample.unwrap_or((0, 0));
        let time = figures.uptime.saturating_sub(uptime);
        if time >= SAMPLE_MIN {
            let capacity = time as f64 * satellite.cores.cpus.len() as f64;
            satellite.load = (figures.busy.saturating_sub(busy) as f64 / capacity).clamp(0.0, 1.0);
            satellite.fresh = 0;
            satellite.sample = Some((figures.uptime, figures.busy));
        }
        satellite.figures = Some(figures);
    }

    pub(super) fn ask_figures_when_due(&mut self) {
        if self.figures_due().is_some_and(|due| due <= self.now) {
            self.next_figures = self.now + EVERY;
            self.ask_figures();
        }
    }

    pub(super) fn figures_due(&self) -> Option<Now> {
        let runs = self
            .members()
            .any(|(_, member)| member.state == MemberState::Running);
        runs.then_some(self.next_figures)
    }
}
