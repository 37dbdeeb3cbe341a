//! A CPU of the satellite: a thread of this process, with its alternate signal stack and its timer.
//!
//! What a signal handler must find is in thread-local words that are set before the first signal can come.
//! `timer.rs` is its timer; `cpus.rs` above decides when.

use super::signals::{AlternateStack, PREEMPT};
use super::timer::Timer;
use core::hint::black_box;
use core::ptr;
use satrap_engine::Cpu;
use std::io;
use std::marker::PhantomData;

thread_local! {
    static WORDS: Cpu = const { Cpu::new() };
}

/// The words of this thread. Neither inlined nor foldable: to the compiler the address of a thread-local is a
/// constant of the function, but a coroutine may change threads in the middle of one.
#[inline(never)]
pub fn words() -> &'static Cpu {
    WORDS.with(|words| {
        // SAFETY: the words live as long as the thread, and only what runs on it uses them.
        unsafe { &*black_box(ptr::from_ref(words)) }
    })
}

/// The calling thread as a CPU. As long as it lives, the thread can run guests.
pub struct CpuThread {
    timer: Timer,
    interrupter: Interrupter,
    _stack: AlternateStack,
    _here: PhantomData<*const ()>,
}

impl CpuThread {
    /// Makes the calling thread a CPU.
    pub fn enter() -> io::Result<CpuThread> {
        let stack = AlternateStack::install()?;
        // SAFETY: no memory is involved.
        let (process, thread) = unsafe { (libc::getpid(), libc::gettid()) };
        Ok(CpuThread {
            timer: Timer::new(thread)?,
            interrupter: Interrupter { process, thread },
            _stack: stack,
            _here: PhantomData,
        })
    }

    /// Arms the preemption timer for `deadline`, in ns of `CLOCK_MONOTONIC`, or disarms it. One shot,
    /// but no shot is lost: one that hits the kernel, or comes while no guest runs, comes again until a guest
    /// has been preempted.
    pub fn set_timer(&self, deadline: Option<u64>) {
        self.timer.set(deadline);
    }

    /// For other threads to interrupt this one.
    pub fn interrupter(&self) -> Interrupter {
        self.interrupter
    }
}

/// Interrupts a CPU as its timer does: the guest that runs there is preempted.
#[derive(Clone, Copy, Debug)]
pub struct Interrupter {
    process: libc::pid_t,
    thread: libc::pid_t,
}

impl Interrupter {
    /// Interrupts it. Nothing happens if the thread is gone.
    pub fn interrupt(&self) {
        // SAFETY: no memory is involved; the signal has a handler or is ignored.
        unsafe { libc::syscall(libc::SYS_tgkill, self.process, self.thread, PREEMPT) };
    }
}
