//! A process: one program with its own linear memory, its threads, and the table of what it holds.
//!
//! Threads of one process take turns: another runs only when this one waits in a kernel call. A thread that
//! the timer took out of Wasm code keeps its turn, so that guests need no locks against each other.

use crate::{
    endpoint::Endpoint,
    engine::{Access, Engine, LinearMemory, Program},
    event::Event,
    heap::Block,
    platform::Platform,
    service::Service,
    slab::Slab,
    task::Task,
    traffic::Traffic,
    window::Window,
};
use alloc::{
    boxed::Box,
    collections::{BTreeMap, BTreeSet},
    string::String,
    sync::Arc,
    vec::Vec,
};
use satrap_abi::{
    Errno, ExitStatus, KernelId, ProcessId, Slot,
    control::{ChannelGrant, ChannelStats, ProcessSpec, ProcessStats, ServiceId},
    limits::{HEAP_PAGES_MAX, Limits, WASM_PAGE},
};
use satrap_sync::{AtomicBool, AtomicU32, AtomicU64, Ordering, SpinLock};

/// The program of a platform's engine.
pub(crate) type ProgramOf<P> = <<P as Platform>::Engine as Engine>::Program;
/// The linear memory of a platform's engine.
pub(crate) type MemoryOf<P> = <<P as Platform>::Engine as Engine>::Memory;

/// Bits of a handle that say where in the table it stands; the rest is the generation.
const HANDLE_INDEX_BITS: u32 = 20;

/// Something that a process holds.
pub(crate) enum Handle {
    Endpoint(Held),
    Service(ServiceId, Arc<Service>),
    Block(Block, Option<u32>),
}

/// An endpoint in a process's table, and where its pools are mapped.
pub(crate) struct Held {
    pub(crate) endpoint: Box<Endpoint>,
    pub(crate) pool_out_at: Option<u32>,
    pub(crate) pool_in_at: Option<u32>,
    /// Exchange heap charged for the pool from which it sends.
    pub(crate) pool_charge: u64,
}

impl Held {
    pub(crate) fn new(endpoint: Box<Endpoint>) -> Held {
        Held {
            endpoint,
            pool_out_at: None,
            pool_in_at: None,
            pool_charge: 0,
        }
    }
}

/// One process.
pub(crate) struct Process<P: Platform> {
    pub(crate) id: ProcessId,
    pub(crate) limits: Limits,
    pub(crate) args: Vec<u8>,
    channels: Vec<ChannelGrant>,
    registers: Vec<String>,
    unrestricted: bool,
    pub(crate) priority: u8,
    pub(crate) program: ProgramOf<P>,
    pub(crate) memory: Arc<MemoryOf<P>>,
    pages: AtomicU32,
    pub(crate) table: SpinLock<Table>,
    pub(crate) window: SpinLock<Window>,
    pub(crate) threads: SpinLock<Threads<P>>,
    turn: SpinLock<Turn<P>>,
    /// A preempted thread keeps the turn.
    turn_kept: AtomicBool,
    dying: AtomicBool,
    fate: SpinLock<Option<ExitStatus>>,
    time: AtomicU64,
    /// What its closed endpoints have counted.
    closed: SpinLock<Traffic>,
}

/// What a process holds.
pub(crate) struct Table {
    handles: Slab<Handle>,
    /// Exchange heap charged to it, in bytes.
    exchange: u64,
    pub(crate) names: u32,
    /// Passive data segments that the guest has dropped.
    pub(crate) dropped: BTreeSet<u32>,
}

/// The threads of a process.
pub(crate) struct Threads<P: Platform> {
    pub(crate) live: BTreeMap<u32, (Arc<Task<P>>, Arc<Event>)>,
    next: u32,
}

struct Turn<P: Platform> {
    holder: Option<Arc<Task<P>>>,
    held: Vec<Arc<Task<P>>>,
}

impl<P: Platform> Process<P> {
    pub(crate) fn new(spec: ProcessSpec, program: ProgramOf<P>, memory: Arc<MemoryOf<P>>) -> Arc<Process<P>> {
        let args = spec
            .args
            .iter()
            .flat_map(|arg| arg.bytes().filter(|&b| b != 0).chain([0]))
            .collect();
        let table = Table {
            handles: Slab::new(spec.limits.handles.min(1 << HANDLE_INDEX_BITS)),
            exchange: 0,
            names: 0,
            dropped: BTreeSet::new(),
        };
        Arc::new(Process {
            id: spec.process,
            limits: spec.limits,
            args,
            channels: spec.channels,
            registers: spec.registers,
            unrestricted: spec.unrestricted,
            priority: spec.priority,
            pages: AtomicU32::new(program.initial_pages()),
            program,
            memory,
            table: SpinLock::new(table),
            window: SpinLock::default(),
            threads: SpinLock::new(Threads {
                live: BTreeMap::new(),
                next: 0,
            }),
            turn: SpinLock::new(Turn {
                holder: None,
                held: Vec::new(),
            }),
            turn_kept: AtomicBool::new(false),
            dying: AtomicBool::new(false),
            fate: SpinLock::new(None),
            time: AtomicU64::new(0),
            closed: SpinLock::default(),
        })
    }

    /// The path that `name` stands for: a channel of the manifest, or itself where everything is allowed.
    pub(crate) fn resolve(&self, name: &str) -> Result<String, Errno> {
        if let Some(grant) = self.channels.iter().find(|grant| grant.name == name) {
            return Ok(grant.path.clone());
        }
        if self.unrestricted && name.starts_with('/') {
            Ok(String::from(name))
        } else {
            Err(Errno::Denied)
        }
    }

    /// Whether it may register `path`.
    pub(crate) fn may_register(&self, path: &str) -> bool {
        self.unrestricted || self.registers.iter().any(|granted| granted == path)
    }

    // ---- linear memory ----

    /// Pages of linear memory.
    #[inline]
    pub(crate) fn pages(&self) -> u32 {
        self.pages.load(Ordering::Relaxed)
    }

    /// Adds pages; the old count, or `None` when the limit is reached.
    pub(crate) fn grow(&self, delta: u32) -> Option<u32> {
        let old = self.pages();
        let new = old.checked_add(delta)?;
        let declared = self.program.maximum_pages().unwrap_or(HEAP_PAGES_MAX);
        let allowed =
            (self.limits.memory / u64::from(WASM_PAGE)).min(u64::from(declared.min(HEAP_PAGES_MAX)));
        if u64::from(new) > allowed {
            return None;
        }
        self.memory.commit(u64::from(new) * u64::from(WASM_PAGE)).ok()?;
        self.pages.store(new, Ordering::Relaxed);
        Some(old)
    }

    /// Whether the guest may reach `length` bytes at `address`: in its heap, or mapped in its window.
    #[inline]
    pub(crate) fn check(&self, address: u32, length: u32, access: Access) -> Result<(), Errno> {
        let end = u64::from(address) + u64::from(length);
        if end <= u64::from(self.pages()) * u64::from(WASM_PAGE) {
            return Ok(());
        }
        if self.window.lock().allows(address, length, access) {
            Ok(())
        } else {
            Err(Errno::BadPointer)
        }
    }

    /// Copies guest memory out.
    #[inline]
    pub(crate) fn read(&self, address: u32, into: &mut [u8]) -> Result<(), Errno> {
        self.check(address, into.len() as u32, Access::ReadOnly)?;
        self.memory
            .region()
            .read(address as usize, into)
            .map_err(|_| Errno::BadPointer)
    }

    /// Copies into guest memory.
    #[inline]
    pub(crate) fn write(&self, address: u32, bytes: &[u8]) -> Result<(), Errno> {
        self.check(address, bytes.len() as u32, Access::ReadWrite)?;
        self.memory
            .region()
            .write(address as usize, bytes)
            .map_err(|_| Errno::BadPointer)
    }

    /// Copies words out of a range that was checked.
    #[inline(always)]
    pub(crate) fn read_words(&self, address: u32, into: &mut [u64]) -> Result<(), Errno> {
        let region = self.memory.region();
        region
            .read_words(address as usize, into)
            .map_err(|_| Errno::BadPointer)
    }

    /// Copies words into a range that was checked.
    #[inline(always)]
    pub(crate) fn write_words(&self, address: u32, words: &[u64]) -> Result<(), Errno> {
        let region = self.memory.region();
        region
            .write_words(address as usize, words)
            .map_err(|_| Errno::BadPointer)
    }

    // ---- turns ----

    /// Whether a thread may run now; if not it is held until the one with the turn waits.
    #[inline]
    pub(crate) fn takes_turn(&self, task: &Arc<Task<P>>) -> bool {
        if !self.turn_kept.load(Ordering::Relaxed) {
            return true;
        }
        let mut turn = self.turn.lock();
        match &turn.holder {
            Some(holder) if !Arc::ptr_eq(holder, task) => {
                turn.held.push(task.clone());
                false
            }
            _ => true,
        }
    }

    /// The thread was preempted: no other thread of the process may run before it.
    pub(crate) fn keeps_turn(&self, task: &Arc<Task<P>>) {
        if self.threads.lock().live.len() > 1 {
            self.turn.lock().holder = Some(task.clone());
            self.turn_kept.store(true, Ordering::Relaxed);
        }
    }

    /// The thread waits or has ended: the held ones may run.
    #[inline]
    pub(crate) fn yields_turn(&self, release: impl FnMut(Arc<Task<P>>)) {
        if !self.turn_kept.load(Ordering::Relaxed) {
            return;
        }
        let mut turn = self.turn.lock();
        turn.holder = None;
        self.turn_kept.store(false, Ordering::Relaxed);
        let held = core::mem::take(&mut turn.held);
        drop(turn);
        held.into_iter().for_each(release);
    }

    // ---- life and death ----

    /// Whether it is being ended.
    #[inline]
    pub(crate) fn is_dying(&self) -> bool {
        self.dying.load(Ordering::Acquire)
    }

    /// Decides how it ends; the first decision stands. Its threads must then be woken.
    pub(crate) fn doom(&self, status: ExitStatus) {
        self.fate.lock().get_or_insert(status);
        self.dying.store(true, Ordering::Release);
    }

    /// How it ended.
    pub(crate) fn fate(&self) -> ExitStatus {
        self.fate.lock().unwrap_or(ExitStatus::Code(0))
    }

    /// Running time, in ticks.
    pub(crate) fn time(&self) -> u64 {
        self.time.load(Ordering::Relaxed)
    }

    /// Adds running time, in ticks.
    #[inline]
    pub(crate) fn charge_time(&self, spent: u64) {
        // Its threads take turns, so that one CPU at a time writes this.
        crate::cpu::count(&self.time, spent);
    }

    /// An endpoint is about to be closed: keeps what it has counted.
    pub(crate) fn remember(&self, endpoint: &Endpoint, own: KernelId) {
        self.closed.lock().add(endpoint, own, false);
    }

    /// What it has sent and received on the kernel `own`.
    pub(crate) fn traffic(&self, own: KernelId) -> impl Iterator<Item = ChannelStats> + use<P> {
        let mut traffic = self.closed.lock().clone();
        for endpoint in self.table.lock().endpoints() {
            traffic.add(endpoint, own, true);
        }
        traffic.of(self.id)
    }

    /// Its figures, but for its running time.
    pub(crate) fn stats(&self) -> ProcessStats {
        let threads = self.threads.lock().live.len() as u32;
        let table = self.table.lock();
        let memory = u64::from(self.pages()) * u64::from(WASM_PAGE)
            + u64::from(threads) * u64::from(self.limits.stack)
            + table.exchange;
        ProcessStats {
            process: self.id.0,
            cpu: 0,
            memory,
            threads,
            handles: table.handles.len(),
        }
    }
}

impl<P: Platform> Threads<P> {
    /// The next thread's number.
    pub(crate) fn number(&mut self) -> u32 {
        self.next += 1;
        self.next - 1
    }
}

/// A handle is never negative as an `i32`, so that a kernel call can return it beside errors.
#[inline(always)]
fn pack(slot: Slot) -> u32 {
    (slot.index | slot.generation << HANDLE_INDEX_BITS) & i32::MAX as u32
}

impl Table {
    /// The slot behind a guest's handle; its generation is compared in the bits that a handle has.
    fn slot(&self, handle: u32) -> Option<Slot> {
        let index = handle & ((1 << HANDLE_INDEX_BITS) - 1);
        let slot = self.handles.current(index)?;
        (pack(slot) == handle).then_some(slot)
    }

    /// Puts something in. [`Errno::LimitReached`] gives it back to the caller.
    pub(crate) fn insert(&mut self, handle: Handle) -> Result<u32, Handle> {
        let charge = charge(&handle);
        let slot = self.handles.insert(handle)?;
        self.exchange += charge;
        Ok(pack(slot))
    }

    /// Whether `more` handles with `bytes` of exchange heap still fit.
    pub(crate) fn has_room(&self, more: u32, bytes: u64, limits: &Limits) -> bool {
        self.handles.len() + more <= limits.handles && self.exchange + bytes <= limits.exchange
    }

    /// Charges exchange heap that is not a handle: a pool.
    pub(crate) fn charge(&mut self, bytes: u64, limits: &Limits) -> Result<(), Errno> {
        if self.exchange + bytes > limits.exchange {
            return Err(Errno::LimitReached);
        }
        self.exchange += bytes;
        Ok(())
    }

    /// Reverse of [`Table::charge`].
    pub(crate) fn discharge(&mut self, bytes: u64) {
        self.exchange -= bytes;
    }

    /// What a handle names.
    #[inline]
    pub(crate) fn get_mut(&mut self, handle: u32) -> Result<&mut Handle, Errno> {
        let index = handle & ((1 << HANDLE_INDEX_BITS) - 1);
        match self.handles.at_mut(index) {
            Some((slot, found)) if pack(slot) == handle => Ok(found),
            _ => Err(Errno::BadHandle),
        }
    }

    /// An endpoint.
    #[inline]
    pub(crate) fn endpoint(&mut self, handle: u32) -> Result<&mut Held, Errno> {
        match self.get_mut(handle)? {
            Handle::Endpoint(held) => Ok(held),
            _ => Err(Errno::BadHandle),
        }
    }

    /// A block.
    pub(crate) fn block(&mut self, handle: u32) -> Result<&mut Block, Errno> {
        match self.get_mut(handle)? {
            Handle::Block(block, _) => Ok(block),
            _ => Err(Errno::BadHandle),
        }
    }

    /// A service.
    pub(crate) fn service(&mut self, handle: u32) -> Result<Arc<Service>, Errno> {
        match self.get_mut(handle)? {
            Handle::Service(_, service) => Ok(service.clone()),
            _ => Err(Errno::BadHandle),
        }
    }

    /// Takes something out for good.
    pub(crate) fn remove(&mut self, handle: u32) -> Result<Handle, Errno> {
        let slot = self.slot(handle).ok_or(Errno::BadHandle)?;
        let handle = self.handles.remove(slot).ok_or(Errno::BadHandle)?;
        self.exchange -= charge(&handle);
        Ok(handle)
    }

    /// Takes something out until [`Table::settle`] decides about it.
    pub(crate) fn lift(&mut self, handle: u32) -> Result<(Slot, Handle), Errno> {
        let slot = self.slot(handle).ok_or(Errno::BadHandle)?;
        let handle = self.handles.lift(slot).ok_or(Errno::BadHandle)?;
        self.exchange -= charge(&handle);
        Ok((slot, handle))
    }

    /// What was lifted comes back under its old handle, or is gone for good.
    pub(crate) fn settle(&mut self, slot: Slot, handle: Option<Handle>) {
        self.exchange += handle.as_ref().map_or(0, charge);
        self.handles.settle(slot, handle);
    }

    /// Empties the table.
    pub(crate) fn drain(&mut self) -> Vec<Handle> {
        self.exchange = 0;
        self.handles.drain_where(|_| true)
    }

    /// Every endpoint.
    pub(crate) fn endpoints(&self) -> impl Iterator<Item = &Endpoint> {
        self.handles.iter().filter_map(|(_, handle)| match handle {
            Handle::Endpoint(held) => Some(&*held.endpoint),
            _ => None,
        })
    }
}

fn charge(handle: &Handle) -> u64 {
    match handle {
        Handle::Block(block, _) => block.footprint(),
        Handle::Endpoint(held) => held.pool_charge,
        Handle::Service(..) => 0,
    }
}
