//! What the kernel asks of a Wasm engine, and what the engine may ask of the kernel.
//!
//! The kernel owns linear memory (how much of it exists, what is mapped in its window); the engine owns code
//! and stacks. A thread is a coroutine: `resume` runs it until it blocks, is preempted, or ends. Neighbours:
//! `kernel/engine` implements this with wasmtime, `sim` with closures.

use alloc::sync::Arc;
use satrap_abi::{Errno, ExitStatus};
use satrap_region::Region;

/// How a suspended thread is to go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Resume {
    /// Go on.
    Run,
    /// Its process is being ended: unwind at once, run no more guest code.
    Die,
}

/// Why a thread stopped running.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pause {
    /// It called [`Engine::suspend`] inside a kernel call.
    Suspended,
    /// The timer took it out of Wasm code.
    Preempted,
    /// It has ended. A thread that was told to die ends with [`ExitStatus::Killed`].
    Finished(ExitStatus),
}

/// Where a thread begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Entry {
    /// The program's `main`.
    Main,
    /// A further thread: `satrap_thread(function, argument)` on a stack of its own.
    Thread {
        /// The guest's function, as a table index.
        function: u32,
        /// What it is passed.
        argument: u32,
        /// Initial value of the stack pointer in linear memory.
        stack_top: u32,
    },
}

/// Whether a mapping in the window may be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Loads only; a store traps.
    ReadOnly,
    /// Loads and stores.
    ReadWrite,
}

/// One process's linear memory: a reservation of 4 GiB of which the kernel commits the lower part.
///
/// The kernel never touches a range that it has not committed or mapped.
pub trait LinearMemory: Send + Sync + 'static {
    /// The whole reservation.
    fn region(&self) -> &Region;

    /// Makes the first `bytes` accessible, zeroed where they are new. Never shrinks.
    fn commit(&self, bytes: u64) -> Result<(), Errno>;

    /// Maps `length` bytes of `source` at address `at` of the window. All page-aligned.
    fn map(&self, at: u32, source: &Region, length: u32, access: Access) -> Result<(), Errno>;

    /// Takes the mapping away: loads and stores trap again.
    fn unmap(&self, at: u32, length: u32);
}

/// A thread of a process.
pub trait Thread: Send + 'static {
    /// Runs it until it pauses. Not called again after [`Pause::Finished`].
    fn resume(&mut self, how: Resume) -> Pause;
}

/// A loaded program.
pub trait Program: Clone + Send + Sync + 'static {
    /// Pages of 64 KiB that a new process has.
    fn initial_pages(&self) -> u32;

    /// Most pages that the program declares, if it does.
    fn maximum_pages(&self) -> Option<u32>;

    /// The program's `satrap.contract` section.
    fn contracts(&self) -> &[u8];

    /// Bytes of passive data segment `index`, for `memory.init`.
    fn segment(&self, index: u32) -> Option<&[u8]>;
}

/// A Wasm engine.
pub trait Engine: Send + Sync + 'static {
    /// A loaded program.
    type Program: Program;
    /// A process's linear memory.
    type Memory: LinearMemory;
    /// A thread whose kernel calls go to a `C`.
    type Thread: Thread;
    /// What answers kernel calls.
    type Calls: Calls;

    /// Loads an artifact: authenticates it, maps its code. [`Errno::Denied`] if it is not the coordinator's,
    /// [`Errno::Unsupported`] if it is for another machine, [`Errno::Invalid`] if it is damaged.
    fn load(&self, artifact: &[u8]) -> Result<Self::Program, Errno>;

    /// A new memory holding the program's image, [`Program::initial_pages`] committed.
    fn new_memory(&self, program: &Self::Program) -> Result<Arc<Self::Memory>, Errno>;

    /// A new thread, not yet running. `stack` is the native stack in bytes.
    fn new_thread(
        &self,
        program: &Self::Program,
        memory: Arc<Self::Memory>,
        entry: Entry,
        stack: u32,
        calls: Self::Calls,
    ) -> Result<Self::Thread, Errno>;

    /// Called inside a kernel call, on the thread's own stack: gives the CPU back to the executor until the
    /// thread is resumed.
    fn suspend() -> Resume;
}

/// What a kernel call that ends the thread returns instead of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct End(pub ExitStatus);

/// Result of a kernel call: what the guest sees, or the end of the thread.
pub type Call<T = i32> = Result<T, End>;

/// The kernel calls of one thread: import module `satrap:kernel@1`, see `satrap_abi::call`.
///
/// Addresses and lengths are the guest's, unchecked. Names match the imports.
#[allow(missing_docs, reason = "each call is documented once, in sdk/rust/src/raw.rs")]
pub trait Calls: Send + 'static {
    fn null(&mut self);
    fn exit(&mut self, code: i32) -> End;
    fn yield_now(&mut self) -> Call<()>;
    fn clock_now(&mut self) -> i64;
    fn clock_wall(&mut self) -> i64;
    fn sleep_until(&mut self, deadline: u64) -> Call;
    fn random(&mut self, pointer: u32, length: u32) -> Call;
    fn console_write(&mut self, stream: u32, pointer: u32, length: u32) -> Call;
    fn args_len(&mut self) -> i32;
    fn args_read(&mut self, pointer: u32) -> Call;
    fn process_id(&mut self) -> i64;
    fn kernel_id(&mut self) -> i32;

    fn memory_size(&mut self) -> u32;
    fn memory_grow(&mut self, pages: u32) -> i32;
    fn memory_copy(&mut self, to: u32, from: u32, length: u32) -> Call<()>;
    fn memory_fill(&mut self, to: u32, value: u32, length: u32) -> Call<()>;
    fn memory_init(&mut self, segment: u32, to: u32, from: u32, length: u32) -> Call<()>;
    fn data_drop(&mut self, segment: u32);

    fn thread_spawn(&mut self, function: u32, argument: u32, stack_top: u32) -> Call;
    fn thread_join(&mut self, thread: u32) -> Call;
    fn thread_id(&mut self) -> i32;
    fn thread_priority(&mut self, class: u32) -> Call;

    fn bind(&mut self, name: u32, length: u32, contract: u32, out: u32, deadline: u64) -> Call;
    fn register(&mut self, path: u32, length: u32, contract: u32, out: u32) -> Call;
    fn accept(&mut self, service: u32, out: u32, deadline: u64) -> Call;
    fn list(&mut self, prefix: u32, length: u32, buffer: u32, capacity: u32) -> Call;
    fn channel(&mut self, contract: u32, out: u32) -> Call;
    fn send(&mut self, endpoint: u32, message: u32, deadline: u64) -> Call;
    fn recv(&mut self, endpoint: u32, message: u32, deadline: u64) -> Call;
    fn call(&mut self, endpoint: u32, message: u32, deadline: u64) -> Call;
    fn wait(&mut self, handles: u32, count: u32, deadline: u64) -> Call;
    fn close(&mut self, handle: u32) -> Call;

    fn block_alloc(&mut self, length: u32) -> Call;
    fn block_len(&mut self, block: u32) -> Call;
    fn block_read(&mut self, block: u32, offset: u32, pointer: u32, length: u32) -> Call;
    fn block_write(&mut self, block: u32, offset: u32, pointer: u32, length: u32) -> Call;
    fn block_map(&mut self, block: u32, out: u32) -> Call;

    fn pool_create(&mut self, endpoint: u32, size: u32, count: u32, out: u32) -> Call;
    fn pool_acquire(&mut self, endpoint: u32, deadline: u64) -> Call;
    fn pool_release(&mut self, endpoint: u32, index: u32) -> Call;
}
