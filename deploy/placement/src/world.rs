//! What a decision is made from: the kernels, what already runs on them, and what is asked for.
//!
//! Plain data, filled in by the coordinator (or by a test). Nothing here decides anything.

use std::collections::BTreeMap;

use satrap_abi::KernelId;
use serde::{Deserialize, Serialize};

/// How many copies of something run on each kernel.
pub type Counts = BTreeMap<KernelId, u32>;

/// A satellite kernel that a process may be placed on.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Kernel {
    /// Its number, unique in the [`World`].
    pub id: KernelId,
    /// Platforms that it advertises, as in `hosted-x86_64`; usually one.
    pub platforms: Vec<String>,
    /// Its CPUs, at least 1.
    pub cpus: u32,
    /// Measured CPU load, 0 (idle) to 1 (all its CPUs busy).
    pub load: f64,
    /// Processes placed here since `load` was measured. Each counts as one busy CPU until the next
    /// measurement; without that, everything started at once would pile up on one kernel.
    pub fresh: u32,
}

impl Kernel {
    /// The load that the last pass compares: measured, plus what was placed since.
    pub fn expected_load(&self) -> f64 {
        self.load + f64::from(self.fresh) / f64::from(self.cpus.max(1))
    }
}

/// The machine at the moment of a decision.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct World {
    /// The candidates, in any order.
    pub kernels: Vec<Kernel>,
    /// Services by path: on which kernels they run, and how many copies.
    pub services: BTreeMap<String, Counts>,
    /// Running copies of each program of a manifest, by [`Request::group`].
    pub copies: BTreeMap<String, Counts>,
}

impl World {
    /// Notes that `request` now runs on `kernel`: its services, one more copy, one more fresh process.
    pub fn record(&mut self, request: &Request, kernel: KernelId) {
        for path in &request.registers {
            *self
                .services
                .entry(path.clone())
                .or_default()
                .entry(kernel)
                .or_default() += 1;
        }
        *self
            .copies
            .entry(request.group.clone())
            .or_default()
            .entry(kernel)
            .or_default() += 1;
        for each in self.kernels.iter_mut().filter(|each| each.id == kernel) {
            each.fresh = each.fresh.saturating_add(1);
        }
    }
}

/// A channel of the process to be placed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Channel {
    /// The name that the program uses.
    pub name: String,
    /// Path of the service that it leads to.
    pub path: String,
    /// Positive: together with the service; negative: apart from it; 0: indifferent (Helios §3.7.2).
    /// At most [`AFFINITY_MAX`](crate::AFFINITY_MAX) either way.
    pub affinity: i32,
}

/// A process to be placed.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Request {
    /// Its name, unique in the application, as in `decoder.1`.
    pub process: String,
    /// What it is a copy of: the process's name in the manifest, as in `decoder`. Overrides name this.
    pub name: String,
    /// Key under which its copies are counted for self-affinity, as in `png/decoder`.
    pub group: String,
    /// Preferred platforms and how much, greater than 0; empty: any will do. 0 counts as absent.
    pub platforms: BTreeMap<String, u32>,
    /// Its channels.
    pub channels: Vec<Channel>,
    /// Affinity to the copies of itself that already run, counted copy by copy.
    pub self_affinity: i32,
    /// Paths that it will serve once it runs.
    pub registers: Vec<String>,
}
