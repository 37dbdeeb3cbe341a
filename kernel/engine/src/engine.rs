//! The engine itself.
//!
//! It is made once for each satellite, over the machine beneath, and loads nothing but artifacts whose MAC
//! holds. `program.rs` is what it loads, `thread.rs` what it runs.

use crate::config::config;
use crate::coroutine::pause;
use crate::machine::{Machine, install, machine};
use crate::memory::ProcessMemory;
use crate::program::{Loaded, Program};
use crate::stack::Stacks;
use crate::thread::{State, Thread};
use crate::{calls, trap};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;
use satrap_abi::Errno;
use satrap_abi::artifact::{Artifact, ArtifactError, Key};
use satrap_kernel::engine::{Calls, Engine, Entry, Pause, Resume};
use wasmtime::Linker;

/// wasmtime, for threads whose kernel calls go to a `C`.
pub struct Wasmtime<C: 'static> {
    linker: Linker<State<C>>,
    stacks: Arc<Stacks>,
    key: Key,
}

/// Why the engine cannot start: an error of the build, never of an input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StartError {
    /// wasmtime refuses its configuration.
    Configuration(String),
    /// wasmtime goes its own ways to the machine: it was built with its `std` feature.
    ForeignSymbols,
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::Configuration(reason) => write!(f, "wasmtime refuses its configuration: {reason}"),
            StartError::ForeignSymbols => f.write_str(
                "wasmtime does not use the kernel's machine: some package in this build enabled its `std` feature",
            ),
        }
    }
}

impl core::error::Error for StartError {}

impl<C: Calls> Wasmtime<C> {
    /// An engine on this machine, which loads what was authenticated with `key`.
    pub fn new(beneath: &'static dyn Machine, key: Key) -> Result<Wasmtime<C>, StartError> {
        install(beneath);
        let refused = |error: wasmtime::Error| StartError::Configuration(format!("{error:#}"));
        let config = config().map_err(StartError::Configuration)?;
        let engine = wasmtime::Engine::new(&config).map_err(refused)?;
        if !trap::installed() {
            return Err(StartError::ForeignSymbols);
        }
        Ok(Wasmtime {
            linker: calls::linker(&engine).map_err(refused)?,
            stacks: Arc::new(Stacks::default()),
            key,
        })
    }
}

impl<C: Calls> Engine for Wasmtime<C> {
    type Program = Program<C>;
    type Memory = ProcessMemory;
    type Thread = Thread;
    type Calls = C;

    fn load(&self, artifact: &[u8]) -> Result<Program<C>, Errno> {
        let artifact = Artifact::parse(artifact, &self.key).map_err(|error| match error {
            ArtifactError::NotAuthentic => Errno::Denied,
            _ => Errno::Invalid,
        })?;
        artifact
            .fits(machine().target(), machine().features())
            .map_err(|_| Errno::Unsupported)?;
        Loaded::new(&self.linker, &artifact).map(|loaded| Program(Arc::new(loaded)))
    }

    fn new_memory(&self, program: &Program<C>) -> Result<Arc<ProcessMemory>, Errno> {
        program.0.memory().map(Arc::new)
    }

    fn new_thread(
        &self,
        program: &Program<C>,
        memory: Arc<ProcessMemory>,
        entry: Entry,
        stack: u32,
        calls: C,
    ) -> Result<Thread, Errno> {
        Thread::new(program, &memory, entry, stack, &self.stacks, calls)
    }

    fn suspend() -> Resume {
        pause(Pause::Suspended)
    }
}
