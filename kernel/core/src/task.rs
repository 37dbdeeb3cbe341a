//! What an executor runs: a process's thread (a coroutine in the engine) or a kernel task (a future).
//!
//! What state a task is in, and who may run it, is [`RunCell`]'s business. A task's waker is the task itself, so
//! that endpoints and timers know only `core::task::Waker`.

use crate::{engine::Engine, platform::Platform, process::Process, satellite::Satellite};
use alloc::{boxed::Box, sync::Arc, task::Wake};
use core::{future::Future, pin::Pin};
use satrap_sync::{AtomicU32, Ordering, Run, RunCell};

/// What a task consists of.
pub(crate) enum Body<P: Platform> {
    Thread(<P::Engine as Engine>::Thread),
    Future(Pin<Box<dyn Future<Output = ()> + Send>>),
}

/// Something that an executor runs.
pub(crate) struct Task<P: Platform> {
    cell: RunCell<Option<Body<P>>>,
    cpu: AtomicU32,
    class: AtomicU32,
    pub(crate) satellite: Arc<Satellite<P>>,
    /// The process and the thread's number in it; `None` for a kernel task.
    pub(crate) thread: Option<(Arc<Process<P>>, u32)>,
}

impl<P: Platform> Task<P> {
    /// A task that waits for its body, and then to be woken for the first time.
    pub(crate) fn new(
        satellite: Arc<Satellite<P>>,
        thread: Option<(Arc<Process<P>>, u32)>,
        cpu: usize,
        class: u8,
    ) -> Arc<Task<P>> {
        Arc::new(Task {
            cell: RunCell::new(None),
            cpu: AtomicU32::new(cpu as u32),
            class: AtomicU32::new(u32::from(class)),
            satellite,
            thread,
        })
    }

    /// The CPU in whose queue it belongs.
    #[inline]
    pub(crate) fn cpu(&self) -> usize {
        self.cpu.load(Ordering::Relaxed) as usize
    }

    /// Moves it to another CPU of the satellite. Only while it is queued, by the CPU that took it out.
    pub(crate) fn move_to(&self, cpu: usize) {
        self.cpu.store(cpu as u32, Ordering::Relaxed);
    }

    /// Its scheduling class, 0 the highest.
    #[inline]
    pub(crate) fn class(&self) -> usize {
        self.class.load(Ordering::Relaxed) as usize
    }

    /// Changes its scheduling class, from its next turn on.
    pub(crate) fn set_class(&self, class: u8) {
        self.class.store(u32::from(class), Ordering::Relaxed);
    }

    /// What it consists of; before anybody can wake it.
    pub(crate) fn consist_of(&self, body: Body<P>) {
        if let Some(mut run) = self.cell.hold() {
            *run = Some(body);
            run.block();
        }
    }

    /// The executor that took it out of a queue: it runs now.
    #[inline]
    pub(crate) fn begin(&self) -> Option<Run<'_, Option<Body<P>>>> {
        self.cell.begin()
    }
}

impl<P: Platform> Wake for Task<P> {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.cell.wake() {
            self.satellite.enqueue(self.clone());
        }
    }
}
