//! One kernel of the run: the real satellite, its executors, and its export.
//!
//! A crash drops it as it stands, and a restart makes another of the next generation. `host.rs` is the
//! machine beneath; `stage.rs` holds all of them.

use super::{Host, SimPlatform, link};
use crate::{
    events::Life,
    stage::{Stage, lock},
};
use satrap_kernel::{Executor, Satellite};
use satrap_link::{Export, ExportError};
use satrap_region::Region;
use std::sync::{Arc, Mutex, atomic::AtomicU64};

/// Bytes of an export: its rings and half a mebibyte of exchange heap.
const EXPORT: usize = (1 << 20) + (16 << 10) + (512 << 10);

/// What a CPU does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CpuState {
    /// It can be stepped.
    Ready,
    /// It is being stepped further down the driver's stack.
    Busy,
    /// It sleeps until it is woken or until this time.
    Parked(Option<u64>),
    /// Its kernel has shut down.
    Stopped,
}

/// A kernel.
pub struct Kernel {
    /// Its number and generation.
    pub life: Life,
    /// Its machine.
    pub host: Arc<Host>,
    /// The kernel itself.
    pub satellite: Arc<Satellite<SimPlatform>>,
    executors: Vec<Mutex<Executor<SimPlatform>>>,
    states: Vec<Mutex<CpuState>>,
    /// What its peers map.
    pub memory: Region,
    export: Export,
    bells: Arc<AtomicU64>,
    /// Peers that it has a link to, so that a dead kernel can be taken apart.
    peers: Mutex<Vec<Life>>,
}

impl Kernel {
    /// Starts a kernel with `cpus` CPUs.
    pub fn boot(stage: &Arc<Stage>, life: Life, cpus: usize) -> Result<Kernel, ExportError> {
        let host = Arc::new(Host::new(stage.clone(), life, cpus));
        let memory = Region::from_heap(EXPORT);
        let export = Export::format(memory.clone(), life.kernel, life.generation)?;
        let bells = Arc::new(AtomicU64::new(0));
        let platform = Arc::new(SimPlatform::new(host.clone(), export.attention()?, bells.clone()));
        let satellite = Satellite::new(platform, life.kernel, export.heap().clone());
        let executor = |cpu| Mutex::new(Executor::new(satellite.clone(), cpu));
        Ok(Kernel {
            life,
            host,
            executors: (0..cpus).map(executor).collect(),
            states: (0..cpus).map(|_| Mutex::new(CpuState::Ready)).collect(),
            satellite,
            memory,
            export,
            bells,
            peers: Mutex::default(),
        })
    }

    /// How many CPUs it has.
    pub fn cpus(&self) -> usize {
        self.executors.len()
    }

    /// What a CPU does.
    pub fn state(&self, cpu: usize) -> CpuState {
        *lock(&self.states[cpu])
    }

    /// Says what a CPU does from now on.
    pub fn set_state(&self, cpu: usize, state: CpuState) {
        *lock(&self.states[cpu]) = state;
    }

    /// Does something with a CPU's executor, as that CPU.
    pub fn on_cpu<T>(&self, cpu: usize, act: impl FnOnce(&mut Executor<SimPlatform>) -> T) -> T {
        let before = self.host.enter(Some(cpu));
        let done = act(&mut lock(&self.executors[cpu]));
        self.host.enter(before);
        done
    }

    /// Does something outside its CPUs, as the control socket's thread does on the hosted platform.
    pub fn outside<T>(&self, act: impl FnOnce(&Arc<Satellite<SimPlatform>>) -> T) -> T {
        let before = self.host.enter(None);
        let done = act(&self.satellite);
        self.host.enter(before);
        done
    }

    /// A peer has come, whose export is `memory`.
    pub fn link_up(&self, peer: Life, memory: Region) -> Result<(), ExportError> {
        let parts = link(&self.host, &self.export, peer, memory, &self.bells)?;
        lock(&self.peers).push(peer);
        self.outside(|satellite| satellite.link_up(parts));
        Ok(())
    }

    /// Takes a dead kernel apart: nothing of it has an effect any more, but its memory and its guests' threads
    /// must go. Not while a CPU of it is being stepped. Whether everything has ended.
    pub fn bury(&self) -> bool {
        for peer in std::mem::take(&mut *lock(&self.peers)) {
            self.outside(|satellite| satellite.link_down(peer.kernel, peer.generation));
        }
        self.outside(|satellite| satellite.shut_down());
        for _ in 0..10_000 {
            let steps = (0..self.cpus()).map(|cpu| self.on_cpu(cpu, Executor::step));
            if steps.fold(true, |all, step| all & (step == satrap_kernel::Step::Stopped)) {
                return true;
            }
        }
        false
    }
}
