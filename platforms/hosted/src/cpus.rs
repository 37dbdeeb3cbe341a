//! The CPUs of the satellite: threads of this process, each pinned to its core.
//!
//! Each runs one executor of the kernel and can be interrupted and timed from the others. `machine/cpu.rs`
//! has the system calls for it; `boot.rs` starts them.

use crate::{
    bells::Eventfd,
    machine::{CpuThread, Interrupter},
};
use rustix::thread::{CpuSet, sched_setaffinity};
use std::{
    cell::{Cell, RefCell},
    io,
    sync::OnceLock,
};

thread_local! {
    static INDEX: Cell<Option<usize>> = const { Cell::new(None) };
    static THREAD: RefCell<Option<CpuThread>> = const { RefCell::new(None) };
}

/// One CPU, as other threads see it.
pub(crate) struct CpuHandle {
    /// What it sleeps on.
    pub(crate) bell: Eventfd,
    interrupter: OnceLock<Interrupter>,
}

impl CpuHandle {
    pub(crate) fn new() -> io::Result<CpuHandle> {
        Ok(CpuHandle {
            bell: Eventfd::new()?,
            interrupter: OnceLock::new(),
        })
    }

    /// Preempts what it runs.
    pub(crate) fn interrupt(&self) {
        if let Some(interrupter) = self.interrupter.get() {
            interrupter.interrupt();
        }
    }

    /// The calling thread becomes CPU `index`, on core `core`.
    pub(crate) fn enter(&self, index: usize, core: u32) -> io::Result<()> {
        let mut set = CpuSet::new();
        set.set(core as usize);
        // A core that has gone meanwhile is no reason not to run.
        let _ = sched_setaffinity(None, &set);
        let thread = CpuThread::enter()?;
        let _ = self.interrupter.set(thread.interrupter());
        INDEX.set(Some(index));
        THREAD.set(Some(thread));
        Ok(())
    }
}

/// The CPU that this thread is.
#[inline(never)]
pub(crate) fn current() -> Option<usize> {
    INDEX.get()
}

/// Arms or disarms the preemption timer of the calling CPU.
pub(crate) fn set_timer(deadline: Option<u64>) {
    THREAD.with_borrow(|thread| {
        if let Some(thread) = thread {
            thread.set_timer(deadline);
        }
    });
}

/// The calling thread is a CPU no more.
pub(crate) fn leave() {
    THREAD.set(None);
}
