//! A stand-in for the kernel: runs a program as its author made it, and the artifact made of it, and tells
//! what can be seen of each.

#![allow(dead_code, reason = "each test program uses a part of it")]

use satrap_abi::artifact::{Artifact, CpuFeatures, Entry, Header, Key, Target, engine, export};
use satrap_abi::call::MODULE;
use satrap_compiler::{Program, host_features};
use std::collections::BTreeSet;
use wasmtime::{Caller, Config, Engine, Extern, Instance, Linker, Memory, Module, Store, Trap, Val};

pub const KEY: Key = [42; 32];

/// What can be seen of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Seen {
    /// Exit code, or the trap.
    pub result: Result<i32, Trap>,
    /// All of linear memory.
    pub memory: Vec<u8>,
    /// How often the program made the kernel call `null`.
    pub nulls: u32,
}

/// What the stand-in keeps for a process.
#[derive(Default)]
struct Process {
    segments: Vec<Vec<u8>>,
    dropped: BTreeSet<usize>,
    pages_max: u32,
    nulls: u32,
    copies: u32,
}

pub fn assemble(text: &str) -> Vec<u8> {
    wat::parse_str(text).unwrap()
}

/// Compiles for this machine.
pub fn artifact(wasm: &[u8]) -> Vec<u8> {
    let program = Program::prepare(wasm).unwrap_or_else(|error| panic!("{error}"));
    program
        .compile(Target::hosted_here(), host_features(), &KEY)
        .unwrap()
}

/// Runs the program as its author made it. It must export its memory as `memory`.
pub fn run_original(wasm: &[u8], entry: Entry) -> Seen {
    let engine = Engine::default();
    let module = Module::new(&engine, wasm).unwrap();
    let mut store = Store::new(&engine, Process::default());
    match linker(&engine).instantiate(&mut store, &module) {
        Ok(instance) => {
            let result = call(&mut store, &instance, entry.name(), &[]);
            seen(&mut store, &instance, result)
        }
        Err(error) => panic!("{error:?}"),
    }
}

/// Runs the artifact made of it, the way a satellite kernel does.
pub fn run_artifact(file: &[u8]) -> Seen {
    let Running {
        mut store,
        instance,
        header,
    } = Running::load(file);
    let mut result = Ok(0);
    if header.start {
        result = call(&mut store, &instance, export::START, &[]);
    }
    if result.is_ok() {
        result = call(&mut store, &instance, header.entry.name(), &[]);
    }
    seen(&mut store, &instance, result)
}

/// An artifact that is loaded, its memory filled, and not yet started.
pub struct Running {
    store: Store<Process>,
    instance: Instance,
    header: Header,
}

impl Running {
    pub fn load(file: &[u8]) -> Running {
        let artifact = Artifact::parse(file, &KEY).unwrap();
        artifact.fits(Target::hosted_here(), host_features()).unwrap();
        let header = artifact.header().clone();
        let engine = Engine::new(&config()).unwrap();
        // SAFETY: the compiler has just made this image, and the artifact was authentic.
        let module = unsafe { Module::deserialize(&engine, artifact.native()) }.unwrap();
        let process = Process {
            segments: (0..)
                .map_while(|index| artifact.segment(index))
                .map(<[u8]>::to_vec)
                .collect(),
            pages_max: header.pages_max,
            ..Process::default()
        };
        let mut store = Store::new(&engine, process);
        let instance = linker(&engine).instantiate(&mut store, &module).unwrap();
        let memory = instance.get_memory(&mut store, export::MEMORY).unwrap();
        for (address, bytes) in artifact.image() {
            memory.write(&mut store, address as usize, bytes).unwrap();
        }
        Running {
            store,
            instance,
            header,
        }
    }

    /// Calls a function that the program exports.
    pub fn call(&mut self, name: &str, arguments: &[i32]) -> Result<i32, Trap> {
        call(&mut self.store, &self.instance, name, arguments)
    }

    /// All of linear memory.
    pub fn memory(&mut self) -> &mut [u8] {
        let memory = self.instance.get_memory(&mut self.store, export::MEMORY);
        memory.unwrap().data_mut(&mut self.store)
    }

    /// How often the kernel has copied or filled.
    pub fn copies(&self) -> u32 {
        self.store.data().copies
    }
}

/// Runs both and expects to see the same of each.
pub fn same(text: &str) -> Seen {
    let wasm = assemble(text);
    let file = artifact(&wasm);
    let entry = Artifact::parse(&file, &KEY).unwrap().header().entry;
    let (original, native) = (run_original(&wasm, entry), run_artifact(&file));
    let (a, b) = (original.memory.iter(), native.memory.iter());
    assert_eq!(
        a.zip(b).position(|(a, b)| a != b),
        None,
        "first difference in memory"
    );
    assert_eq!(original, native);
    native
}

/// The satellites' engine, with the runtime of `std`.
fn config() -> Config {
    let mut config = Config::new();
    config
        .memory_reservation(engine::MEMORY_RESERVATION)
        .memory_guard_size(engine::MEMORY_GUARD)
        .memory_may_move(engine::MEMORY_MAY_MOVE)
        .guard_before_linear_memory(engine::GUARD_BEFORE_MEMORY)
        .memory_init_cow(engine::MEMORY_INIT_COW)
        .table_lazy_init(engine::TABLE_LAZY_INIT)
        .signals_based_traps(engine::SIGNALS_BASED_TRAPS)
        .epoch_interruption(engine::EPOCH_INTERRUPTION)
        .consume_fuel(engine::CONSUME_FUEL)
        .concurrency_support(false);
    config
}

/// Arguments that are missing are 0.
fn call(store: &mut Store<Process>, instance: &Instance, name: &str, arguments: &[i32]) -> Result<i32, Trap> {
    let function = instance.get_func(&mut *store, name).unwrap();
    let ty = function.ty(&*store);
    let mut arguments: Vec<Val> = arguments.iter().copied().map(Val::I32).collect();
    arguments.resize(ty.params().len(), Val::I32(0));
    let mut results = vec![Val::I32(0); ty.results().len()];
    match function.call(&mut *store, &arguments, &mut results) {
        Ok(()) => Ok(results.first().map_or(0, Val::unwrap_i32)),
        Err(error) => Err(error.downcast::<Trap>().unwrap()),
    }
}

fn seen(store: &mut Store<Process>, instance: &Instance, result: Result<i32, Trap>) -> Seen {
    let memory = instance.get_memory(&mut *store, export::MEMORY);
    let memory = memory.map_or(Vec::new(), |memory| memory.data(&*store).to_vec());
    Seen {
        result,
        memory,
        nulls: store.data().nulls,
    }
}

fn linker(engine: &Engine) -> Linker<Process> {
    let mut linker = Linker::new(engine);
    linker
        .func_wrap(MODULE, "null", |mut caller: Caller<'_, Process>| {
            caller.data_mut().nulls += 1
        })
        .unwrap();
    linker
        .func_wrap(MODULE, "memory_size", |mut caller: Caller<'_, Process>| {
            pages(&mut caller)
        })
        .unwrap();
    linker.func_wrap(MODULE, "memory_grow", grow).unwrap();
    linker.func_wrap(MODULE, "memory_copy", copy).unwrap();
    linker.func_wrap(MODULE, "memory_fill", fill).unwrap();
    linker.func_wrap(MODULE, "memory_init", init).unwrap();
    linker
        .func_wrap(
            MODULE,
            "data_drop",
            |mut caller: Caller<'_, Process>, segment: i32| {
                caller.data_mut().dropped.insert(segment as usize);
            },
        )
        .unwrap();
    linker
}

fn memory(caller: &mut Caller<'_, Process>) -> Memory {
    match caller.get_export(export::MEMORY) {
        Some(Extern::Memory(memory)) => memory,
        other => panic!("{other:?}"),
    }
}

fn pages(caller: &mut Caller<'_, Process>) -> i32 {
    memory(caller).size(&*caller) as i32
}

fn grow(mut caller: Caller<'_, Process>, delta: i32) -> i32 {
    let memory = memory(&mut caller);
    let wanted = memory.size(&caller) + u64::from(delta as u32);
    if wanted > u64::from(caller.data().pages_max) {
        return -1;
    }
    memory
        .grow(&mut caller, u64::from(delta as u32))
        .map_or(-1, |old| old as i32)
}

/// The range of memory that a kernel call names, or the trap that it deserves.
fn range(memory: &[u8], address: i32, length: i32) -> wasmtime::Result<std::ops::Range<usize>> {
    let (start, length) = (address as u32 as usize, length as u32 as usize);
    if start + length <= memory.len() {
        Ok(start..start + length)
    } else {
        Err(Trap::MemoryOutOfBounds.into())
    }
}

fn copy(mut caller: Caller<'_, Process>, to: i32, from: i32, length: i32) -> wasmtime::Result<()> {
    caller.data_mut().copies += 1;
    let bytes = memory(&mut caller).data_mut(&mut caller);
    let (from, to) = (range(bytes, from, length)?, range(bytes, to, length)?);
    bytes.copy_within(from, to.start);
    Ok(())
}

fn fill(mut caller: Caller<'_, Process>, to: i32, value: i32, length: i32) -> wasmtime::Result<()> {
    caller.data_mut().copies += 1;
    let bytes = memory(&mut caller).data_mut(&mut caller);
    let to = range(bytes, to, length)?;
    bytes[to].fill(value as u8);
    Ok(())
}

fn init(
    mut caller: Caller<'_, Process>,
    to: i32,
    from: i32,
    length: i32,
    segment: i32,
) -> wasmtime::Result<()> {
    let memory = memory(&mut caller);
    let (bytes, process) = memory.data_and_store_mut(&mut caller);
    let dropped = process.dropped.contains(&(segment as usize));
    let source: &[u8] = if dropped {
        &[]
    } else {
        &process.segments[segment as usize]
    };
    let (from, to) = (range(source, from, length)?, range(bytes, to, length)?);
    bytes[to].copy_from_slice(&source[from]);
    Ok(())
}

/// Compiles for a target that may not be this machine's.
pub fn artifact_for(wasm: &[u8], target: Target) -> Vec<u8> {
    Program::prepare(wasm)
        .unwrap()
        .compile(target, CpuFeatures::NONE, &KEY)
        .unwrap()
}
