//! A kernel as small as the tests need: processes, one CPU thread, no scheduler.

use super::{KEY, Mock, artifact};
use satrap_abi::ExitStatus;
use satrap_engine::{ProcessMemory, Program, Thread, Wasmtime};
use satrap_hosted::machine::{CpuThread, LINUX};
use satrap_kernel::engine::{Engine as _, Entry, Pause, Program as _, Resume, Thread as _};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Native stack of the tests' threads.
const STACK: u32 = 256 << 10;

/// The engine under test.
pub fn engine() -> &'static Wasmtime<Mock> {
    static ENGINE: OnceLock<Wasmtime<Mock>> = OnceLock::new();
    ENGINE.get_or_init(|| Wasmtime::new(&LINUX, KEY).expect("the engine starts"))
}

/// `CLOCK_MONOTONIC` in ns.
pub fn now() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: it writes to our own structure.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Runs `body` on a CPU thread.
pub fn on_cpu<T>(body: impl FnOnce(&CpuThread) -> T) -> T {
    body(&CpuThread::enter().expect("a CPU thread"))
}

/// A program and a memory.
pub struct Process {
    pub program: Program<Mock>,
    pub memory: Arc<ProcessMemory>,
    pages: Arc<AtomicU32>,
}

impl Process {
    /// A process of a module in text form.
    pub fn new(text: &str) -> Process {
        let program = engine().load(&artifact(text)).expect("the program loads");
        Process::of(&program)
    }

    /// A process of a loaded program.
    pub fn of(program: &Program<Mock>) -> Process {
        Process {
            program: program.clone(),
            memory: engine().new_memory(program).expect("a memory"),
            pages: Arc::new(AtomicU32::new(program.initial_pages())),
        }
    }

    /// A thread of it.
    pub fn thread(&self, entry: Entry) -> Thread {
        self.thread_with(entry, STACK)
    }

    /// A thread of it with so many bytes of native stack.
    pub fn thread_with(&self, entry: Entry, stack: u32) -> Thread {
        let calls = Mock::new(self.program.clone(), self.memory.clone(), self.pages.clone());
        engine()
            .new_thread(&self.program, self.memory.clone(), entry, stack, calls)
            .expect("a thread")
    }

    /// Its first thread.
    pub fn main(&self) -> Thread {
        self.thread(Entry::Main)
    }

    /// Runs its first thread to the end, suspensions included.
    pub fn run(&self) -> ExitStatus {
        on_cpu(|_| finish(&mut self.main()))
    }

    /// Pages of its memory that are accessible.
    pub fn pages(&self) -> u32 {
        self.pages.load(Ordering::Relaxed)
    }
}

/// Resumes a thread until it has ended.
pub fn finish(thread: &mut Thread) -> ExitStatus {
    loop {
        if let Pause::Finished(status) = thread.resume(Resume::Run) {
            return status;
        }
    }
}

/// Lets a thread run until the timer preempts it, for `time`.
pub fn preempt_after(cpu: &CpuThread, thread: &mut Thread, time: Duration) -> Pause {
    cpu.set_timer(Some(now() + time.as_nanos() as u64));
    thread.resume(Resume::Run)
}
