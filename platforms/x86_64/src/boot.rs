//! From the loader's hand-over to a running satellite, and to its end.
//!
//! The order is forced: memory before anything that allocates, the clock before the timer that it measures, all
//! of them before the engine.

use crate::command::{Command, USAGE};
use crate::coordinator;
use crate::devices::power::End;
use crate::devices::{apic, clock, entropy};
use crate::machine::{self, Missing};
use crate::memory::{self, Shares};
use crate::platform::Pc;
use crate::pvh::StartInfo;
use crate::{cpu, say};
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;
use core::ptr::{NonNull, with_exposed_provenance_mut};
use satrap_abi::control::{ProcessSpec, ToSatellite};
use satrap_abi::limits::Limits;
use satrap_abi::{Digest, Errno, KernelId, ProcessId};
use satrap_engine::Wasmtime;
use satrap_kernel::{Executor, Platform, Satellite};
use satrap_region::{Backing, Region};
use satrap_sync::SpinLock;

const KERNEL: KernelId = KernelId(1);
const PROCESS: ProcessId = ProcessId(1);

/// Why the kernel cannot start.
pub enum BootError {
    Loader,
    Memory,
    Cpu(Missing),
    Command,
    Artifact,
    Engine(String),
    Load(Errno),
}

impl fmt::Display for BootError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BootError::Loader => f.write_str("the loader does not speak PVH"),
            BootError::Memory => f.write_str("too little memory"),
            BootError::Cpu(missing) => write!(f, "the CPU lacks {}", missing.0),
            BootError::Command => f.write_str(USAGE),
            BootError::Artifact => f.write_str("the loader brought no artifact (QEMU: -initrd)"),
            BootError::Engine(reason) => write!(f, "the engine cannot run here: {reason}"),
            BootError::Load(errno) => write!(f, "the artifact is refused: {errno}"),
        }
    }
}

/// Runs the process that the loader brought, until it has ended.
pub fn run(info: usize) -> Result<End, BootError> {
    // SAFETY: `entry.s` passes what the loader passed, and maps memory one to one.
    let info = unsafe { StartInfo::at(info) }.ok_or(BootError::Loader)?;
    let artifact = info.module().ok_or(BootError::Artifact)?;
    // SAFETY: called once, with memory that nothing else is in.
    let shares = unsafe { memory::start(free(info, artifact), info.ram()) }.ok_or(BootError::Memory)?;
    clock::start();
    apic::start();
    machine::start().map_err(BootError::Cpu)?;
    let generator = entropy::start();
    announce(&shares, generator);

    let command = Command::parse(info.command_line()).ok_or(BootError::Command)?;
    let engine = Wasmtime::new(&machine::PC, command.key);
    let engine = engine.map_err(|error| BootError::Engine(error.to_string()))?;
    let satellite = Satellite::new(Arc::new(Pc::new(engine)), KERNEL, exchange(shares.exchange));
    cpu::enable_interrupts();
    let digest = Digest(*blake3::hash(artifact).as_bytes());
    satellite.load(digest, artifact).map_err(BootError::Load)?;
    Ok(run_process(&satellite, digest, command))
}

/// The largest range of memory behind the kernel and before the artifact.
fn free(info: &StartInfo, artifact: &[u8]) -> Range<usize> {
    let module = artifact.as_ptr_range();
    let (first, last) = (module.start.addr(), module.end.addr());
    let around = |ram: Range<usize>| {
        let start = ram.start.max(memory::image_end());
        [start..ram.end.min(first), start.max(last)..ram.end]
    };
    let ranges = info.ram().flat_map(around);
    ranges.max_by_key(|range| range.len()).unwrap_or(0..0)
}

fn announce(shares: &Shares, generator: bool) {
    const MIB: usize = 1 << 20;
    say!(
        "kernel {KERNEL} on x86_64: {} MiB for processes, {} MiB exchange heap, {} MiB kernel heap",
        shares.processes / MIB,
        shares.exchange.len() / MIB,
        shares.heap / MIB,
    );
    if !generator {
        say!("the CPU has no random number generator; keys rest on the jitter of its clock");
    }
}

/// The exchange heap as a region; its backing's offset is its physical address.
fn exchange(range: Range<usize>) -> Region {
    let backing = Backing {
        object: 0,
        offset: range.start as u64,
    };
    let base = NonNull::new(with_exposed_provenance_mut(range.start)).unwrap_or(NonNull::dangling());
    // SAFETY: set aside by `memory::start` for this alone, and mapped for ever.
    unsafe { Region::from_raw(base, range.len(), Some(backing), Arc::new(())) }
}

fn run_process(satellite: &Arc<Satellite<Pc>>, artifact: Digest, command: Command) -> End {
    let end = Arc::new(SpinLock::new(None));
    satellite.spawn_task(Box::pin(coordinator::serve(satellite.clone(), end.clone())));
    satellite.control(ToSatellite::Spawn(ProcessSpec {
        process: PROCESS,
        name: command.args[0].clone(),
        artifact,
        args: command.args,
        limits: Limits {
            memory: Limits::DEFAULT.memory.min(memory::left() as u64),
            ..Limits::DEFAULT
        },
        channels: Vec::new(),
        registers: Vec::new(),
        unrestricted: true,
        priority: 1,
    }));
    if let Some(limit) = command.limit {
        let deadline = satellite.platform().now() + limit * 1_000_000;
        satellite.spawn_task(Box::pin(coordinator::limit(satellite.clone(), PROCESS, deadline)));
    }
    Executor::new(satellite.clone(), 0).run();
    // The executor returns when the satellite has stopped, which `serve` asks for behind setting the end.
    let end = end.lock().take();
    end.unwrap_or(End::Panic)
}
