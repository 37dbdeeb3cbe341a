//! The simulated engine: a program is a closure over a [`Guest`], which makes the real kernel calls.
//!
//! No Wasm runs here: what is under test is the kernel, and a closure can be stopped at every call.
//! `memory.rs` is what a guest has of memory; `workload` has the programs.

pub(crate) mod coroutine;
mod guest;
mod memory;

pub use guest::{BLOCK_MAX, Calling, Guest, Letter, PARTS};
pub use memory::SimMemory;

use crate::{
    contracts::CONTRACTS,
    facts::Fact,
    machine::{Host, SimPlatform},
    workload,
};
use coroutine::{Coroutine, Signal};
use satrap_abi::{Errno, ExitStatus, Trap};
use satrap_kernel::{
    CallContext,
    engine::{End, Engine, Entry, Pause, Program, Resume, Thread},
};
use std::sync::Arc;

/// What a thread of a guest does; its result is the exit code.
pub type Routine = fn(&mut Guest) -> Result<i32, End>;

/// A program: its main routine and those of its further threads.
#[derive(Clone, Copy)]
pub struct SimProgram {
    main: Routine,
    threads: &'static [Routine],
}

impl SimProgram {
    /// A program.
    pub const fn new(main: Routine, threads: &'static [Routine]) -> SimProgram {
        SimProgram { main, threads }
    }
}

impl Program for SimProgram {
    fn initial_pages(&self) -> u32 {
        1
    }

    fn maximum_pages(&self) -> Option<u32> {
        Some(1)
    }

    fn contracts(&self) -> &[u8] {
        &CONTRACTS.section
    }

    fn segment(&self, _index: u32) -> Option<&[u8]> {
        None
    }
}

/// The engine of one kernel.
pub struct SimEngine {
    host: Arc<Host>,
}

impl SimEngine {
    /// The engine of a host.
    pub fn new(host: Arc<Host>) -> SimEngine {
        SimEngine { host }
    }
}

impl Engine for SimEngine {
    type Program = SimProgram;
    type Memory = SimMemory;
    type Thread = SimThread;
    type Calls = CallContext<SimPlatform>;

    /// An artifact is the name of a program of the workload.
    fn load(&self, artifact: &[u8]) -> Result<SimProgram, Errno> {
        let name = std::str::from_utf8(artifact).map_err(|_| Errno::Invalid)?;
        workload::program(name).ok_or(Errno::NotFound)
    }

    fn new_memory(&self, _program: &SimProgram) -> Result<Arc<SimMemory>, Errno> {
        Ok(Arc::new(SimMemory::new()))
    }

    fn new_thread(
        &self,
        program: &SimProgram,
        memory: Arc<SimMemory>,
        entry: Entry,
        _stack: u32,
        calls: CallContext<SimPlatform>,
    ) -> Result<SimThread, Errno> {
        let (routine, argument, scratch) = match entry {
            Entry::Main => (program.main, 0, 0),
            Entry::Thread {
                function,
                argument,
                stack_top,
            } => {
                let routine = program.threads.get(function as usize).ok_or(Errno::Invalid)?;
                (*routine, argument, stack_top)
            }
        };
        let host = self.host.clone();
        let mut guest = Guest::new(host.clone(), memory, calls, argument, scratch);
        let body = Box::new(move || run(routine, &mut guest));
        Ok(SimThread {
            host,
            coroutine: Coroutine::new(body),
        })
    }

    fn suspend() -> Resume {
        coroutine::pass(Signal::Pause(Pause::Suspended))
    }
}

/// Runs a guest's thread to its end. A panic of it is a failure of the run.
fn run(routine: Routine, guest: &mut Guest) -> ExitStatus {
    let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| routine(guest)));
    match ended {
        Ok(Ok(code)) => ExitStatus::Code(code),
        Ok(Err(End(status))) => status,
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            let process = guest.process();
            guest.state(Fact::Panicked(process, text.unwrap_or_default()));
            ExitStatus::Trap(Trap::Unreachable)
        }
    }
}

/// A guest's thread.
pub struct SimThread {
    host: Arc<Host>,
    coroutine: Coroutine,
}

impl Thread for SimThread {
    fn resume(&mut self, how: Resume) -> Pause {
        let mut how = how;
        loop {
            match self.coroutine.resume(how) {
                Signal::Pause(pause) => return pause,
                Signal::Interlude => self.host.stage.interlude(),
            }
            how = Resume::Run;
        }
    }
}
