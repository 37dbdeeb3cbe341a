//! What the kernel under attack stands on: a clock that ticks with every look, a coordinator that answers what it
//! is asked, and an engine whose guests are `guest.rs`.

use super::{
    HOSTILE,
    guest::{Act, Actor},
    wire::{BOUND_CHANNEL, lock},
};
use satrap_abi::{
    ChannelId, Errno, KernelId, ProcessId,
    control::{Bound, ServiceId, ToCoordinator, ToSatellite},
    limits::{WASM_PAGE, WINDOW_START},
};
use satrap_kernel::engine::{Access, Engine, Entry, LinearMemory, Program, Resume};
use satrap_kernel::{CallContext, Platform, Satellite};
use satrap_link::Attention;
use satrap_region::Region;
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};

/// How much of the window there is.
pub const WINDOW: u32 = 1 << 20;
/// Pages of linear memory at a process's start, and most of them.
const PAGES: u32 = 1;
const PAGES_MAX: u32 = 4;

thread_local! {
    /// Linear memory, for one kernel after the other.
    static MEMORY: OnceCell<Region> = const { OnceCell::new() };
    /// Where `suspend` finds its machine.
    static RUNNING: RefCell<Option<Arc<Machine>>> = const { RefCell::new(None) };
}

/// The machine.
pub struct Machine {
    engine: Stage,
    clock: AtomicU64,
    satellite: OnceLock<Weak<Satellite<Machine>>>,
    said: Mutex<VecDeque<ToCoordinator>>,
    known: Mutex<Known>,
}

/// What the coordinator has learnt.
#[derive(Default)]
struct Known {
    services: BTreeMap<String, ServiceId>,
    /// The kernel's ends of channels to its peers.
    ends: BTreeMap<KernelId, Vec<ChannelId>>,
    failed: Vec<KernelId>,
}

/// The engine: guests that do what stands in the script.
#[derive(Clone, Default)]
pub struct Stage(Arc<Script>);

#[derive(Default)]
struct Script {
    acts: Mutex<VecDeque<Act>>,
    /// How often the kernel call in progress may still wait.
    waits: AtomicU32,
}

impl Stage {
    /// The next act.
    pub fn next(&self) -> Option<Act> {
        lock(&self.0.acts).pop_front()
    }

    /// A kernel call begins: how often it may wait before its thread is told to die.
    pub fn allow_waits(&self, count: u32) {
        self.0.waits.store(count, Ordering::Relaxed);
    }
}

/// The one program.
#[derive(Clone)]
pub struct Play;

/// Linear memory and the window above it; what is mapped there is not shown.
pub struct Memory {
    region: Region,
    /// Where something is mapped, and where it ends.
    mapped: Mutex<BTreeMap<u32, u32>>,
}

impl Machine {
    /// A machine, which `suspend` on this thread belongs to from now on.
    pub fn new() -> Arc<Machine> {
        let machine = Arc::new(Machine {
            engine: Stage::default(),
            clock: AtomicU64::new(1),
            satellite: OnceLock::new(),
            said: Mutex::default(),
            known: Mutex::default(),
        });
        RUNNING.set(Some(machine.clone()));
        machine
    }

    /// It serves this kernel.
    pub fn serve(&self, satellite: &Arc<Satellite<Machine>>) {
        let _ = self.satellite.set(Arc::downgrade(satellite));
    }

    /// The kernel is over.
    pub fn forget(&self) {
        RUNNING.set(None);
        lock(&self.engine.0.acts).clear();
    }

    /// The guest's next act.
    pub fn script(&self, act: Act) {
        lock(&self.engine.0.acts).push_back(act);
    }

    /// Whether the link to a peer was reset.
    pub fn has_failed(&self, peer: KernelId) -> bool {
        lock(&self.known).failed.contains(&peer)
    }

    /// The kernel's ends of channels that were made to a peer.
    pub fn ends(&self, peer: KernelId) -> Vec<ChannelId> {
        lock(&self.known).ends.get(&peer).cloned().unwrap_or_default()
    }

    /// Brings a client of a peer to a service.
    pub fn connect(&self, path: &str, client: KernelId, channel: ChannelId) {
        let service = lock(&self.known).services.get(path).copied();
        if let Some(service) = service {
            self.tell(ToSatellite::Connect {
                request: 1,
                service,
                client,
                generation: 1,
                process: ProcessId(9),
                channel,
            });
        }
    }

    fn tell(&self, frame: ToSatellite) {
        if let Some(satellite) = self.satellite.get().and_then(Weak::upgrade) {
            satellite.control(frame);
        }
    }

    /// The coordinator answers what it has been asked.
    pub fn answer(&self) {
        loop {
            let Some(frame) = lock(&self.said).pop_front() else {
                return;
            };
            if let Some(answer) = self.reply(frame) {
                self.tell(answer);
            }
        }
    }

    fn reply(&self, frame: ToCoordinator) -> Option<ToSatellite> {
        let mut known = lock(&self.known);
        match frame {
            ToCoordinator::Register {
                request,
                path,
                service,
                ..
            } => {
                let free = !known.services.contains_key(&path);
                known.services.entry(path).or_insert(service);
                let result = free.then_some(()).ok_or(Errno::NameTaken);
                Some(ToSatellite::RegisterReply { request, result })
            }
            ToCoordinator::Bind {
                request,
                path,
                channel,
                ..
            } => {
                let bound = Bound {
                    kernel: HOSTILE,
                    generation: 1,
                    channel: BOUND_CHANNEL,
                };
                let result = path.starts_with("/b").then_some(bound).ok_or(Errno::NotFound);
                if result.is_ok() {
                    known.ends.entry(HOSTILE).or_default().push(channel);
                }
                Some(ToSatellite::BindReply { request, result })
            }
            ToCoordinator::List { request, .. } => {
                let names = known.services.keys().cloned().collect();
                Some(ToSatellite::ListReply { request, names })
            }
            ToCoordinator::Unregister { service } => {
                known.services.retain(|_, own| *own != service);
                None
            }
            ToCoordinator::ConnectReply {
                client,
                result: Ok(channel),
                ..
            } => {
                known.ends.entry(client).or_default().push(channel);
                None
            }
            ToCoordinator::LinkFailed { kernel, reason, .. } => {
                assert!(!reason.is_empty(), "a reset without a reason");
                known.failed.push(kernel);
                None
            }
            _ => None,
        }
    }
}

impl Platform for Machine {
    type Engine = Stage;

    fn engine(&self) -> &Stage {
        &self.engine
    }

    fn name(&self) -> &str {
        "fuzz"
    }

    fn cpus(&self) -> usize {
        1
    }

    fn current_cpu(&self) -> Option<usize> {
        Some(0)
    }

    fn now(&self) -> u64 {
        self.clock.fetch_add(1_000, Ordering::Relaxed)
    }

    fn wall_clock(&self) -> u64 {
        self.now()
    }

    fn random(&self, bytes: &mut [u8]) {
        bytes.fill(4);
    }

    fn set_timer(&self, _: usize, _: Option<u64>) {}

    fn park(&self, _: usize, _: Option<u64>) {}

    fn unpark(&self, _: usize) {}

    fn interrupt(&self, _: usize) {}

    fn set_attention(&self, _: Attention) {}

    fn doorbells(&self) -> u64 {
        0
    }

    fn send_control(&self, frame: ToCoordinator) {
        lock(&self.said).push_back(frame);
    }

    fn poll_budget(&self) -> u64 {
        0
    }
}

impl Engine for Stage {
    type Program = Play;
    type Memory = Memory;
    type Thread = Actor<CallContext<Machine>>;
    type Calls = CallContext<Machine>;

    fn load(&self, _: &[u8]) -> Result<Play, Errno> {
        Ok(Play)
    }

    fn new_memory(&self, _: &Play) -> Result<Arc<Memory>, Errno> {
        let region = MEMORY.with(|memory| {
            let whole = || Region::from_heap((WINDOW_START + WINDOW) as usize);
            memory.get_or_init(whole).clone()
        });
        let below = (PAGES_MAX * WASM_PAGE) as usize;
        for (from, length) in [(0, below), (WINDOW_START as usize, WINDOW as usize)] {
            region
                .fill(from, length, 0)
                .expect("the region is as large as that");
        }
        let mapped = Mutex::default();
        Ok(Arc::new(Memory { region, mapped }))
    }

    fn new_thread(
        &self,
        _: &Play,
        memory: Arc<Memory>,
        _: Entry,
        _: u32,
        calls: CallContext<Machine>,
    ) -> Result<Self::Thread, Errno> {
        Ok(Actor::new(self.clone(), memory, calls))
    }

    /// The coordinator answers meanwhile. A call that waits for longer is never answered.
    fn suspend() -> Resume {
        let machine = RUNNING.with_borrow(Clone::clone).expect("a kernel runs");
        machine.answer();
        let waits = &machine.engine.0.waits;
        match waits.load(Ordering::Relaxed).checked_sub(1) {
            Some(left) => {
                waits.store(left, Ordering::Relaxed);
                Resume::Run
            }
            None => Resume::Die,
        }
    }
}

impl Program for Play {
    fn initial_pages(&self) -> u32 {
        PAGES
    }

    fn maximum_pages(&self) -> Option<u32> {
        Some(PAGES_MAX)
    }

    fn contracts(&self) -> &[u8] {
        &[]
    }

    fn segment(&self, index: u32) -> Option<&[u8]> {
        (index < 2).then_some(b"segment")
    }
}

impl LinearMemory for Memory {
    fn region(&self) -> &Region {
        &self.region
    }

    fn commit(&self, _: u64) -> Result<(), Errno> {
        Ok(())
    }

    fn map(&self, at: u32, source: &Region, length: u32, _: Access) -> Result<(), Errno> {
        assert_eq!((at % 4096, length % 4096, source.len()), (0, 0, length as usize));
        let end = u64::from(at) + u64::from(length);
        if end > u64::from(WINDOW_START + WINDOW) {
            return Err(Errno::NoMemory);
        }
        let mut mapped = lock(&self.mapped);
        let free = mapped
            .iter()
            .all(|(&from, &to)| to <= at || u64::from(from) >= end);
        assert!(free && at >= WINDOW_START, "one mapping over another");
        mapped.insert(at, end as u32);
        Ok(())
    }

    fn unmap(&self, at: u32, length: u32) {
        let end = lock(&self.mapped).remove(&at);
        assert_eq!(end, Some(at + length), "it was not mapped like this");
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        assert!(lock(&self.mapped).is_empty(), "a mapping outlives its process");
    }
}
