//! What an executor runs: a process's thread (a coroutine in the engine) or a kernel task (a future).
//!
//! A task is in one of five states; who may move it from one to the next is said at each. Its waker is the
//! task itself, so that endpoints and timers know only `core::task::Waker`.

use crate::{engine::Engine, platform::Platform, process::Process, satellite::Satellite};
use alloc::{boxed::Box, sync::Arc, task::Wake};
use core::{future::Future, pin::Pin};
use satrap_sync::{AtomicU32, Ordering, SpinLock};

/// Waits for a wake-up. Whoever wakes it queues it.
const BLOCKED: u32 = 0;
/// In a run queue. The executor that takes it out runs it.
const QUEUED: u32 = 1;
/// Runs on a CPU.
const RUNNING: u32 = 2;
/// Runs, and was woken meanwhile: it will be queued again instead of blocking.
const NOTIFIED: u32 = 3;
/// Has ended.
const DONE: u32 = 4;

/// What a task consists of.
pub(crate) enum Body<P: Platform> {
    Thread(<P::Engine as Engine>::Thread),
    Future(Pin<Box<dyn Future<Output = ()> + Send>>),
}

/// Something that an executor runs.
pub(crate) struct Task<P: Platform> {
    state: AtomicU32,
    cpu: AtomicU32,
    class: AtomicU32,
    pub(crate) satellite: Arc<Satellite<P>>,
    /// The process and the thread's number in it; `None` for a kernel task.
    pub(crate) thread: Option<(Arc<Process<P>>, u32)>,
    pub(crate) body: SpinLock<Option<Body<P>>>,
}

impl<P: Platform> Task<P> {
    /// A task that waits to be woken for the first time.
    pub(crate) fn new(
        satellite: Arc<Satellite<P>>,
        thread: Option<(Arc<Process<P>>, u32)>,
        cpu: usize,
        class: u8,
    ) -> Arc<Task<P>> {
        Arc::new(Task {
            state: AtomicU32::new(BLOCKED),
            cpu: AtomicU32::new(cpu as u32),
            class: AtomicU32::new(u32::from(class)),
            satellite,
            thread,
            body: SpinLock::new(None),
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

    /// The executor: it runs now.
    #[inline]
    pub(crate) fn begin(&self) {
        self.state.store(RUNNING, Ordering::Relaxed);
    }

    /// The executor: it stopped to wait. False if it was woken meanwhile and must be queued again.
    #[inline]
    pub(crate) fn block(&self) -> bool {
        // SYNC POINT task-block: pairs with task-wake; what a waker wrote before is visible when this fails.
        let blocked = self
            .state
            .compare_exchange(RUNNING, BLOCKED, Ordering::AcqRel, Ordering::Acquire);
        if blocked.is_err() {
            self.requeue();
        }
        blocked.is_ok()
    }

    /// The executor: it will be queued at once.
    #[inline]
    pub(crate) fn requeue(&self) {
        self.state.store(QUEUED, Ordering::Release);
    }

    /// The executor: it has ended.
    pub(crate) fn finish(&self) {
        self.state.store(DONE, Ordering::Release);
    }

    /// Whether the caller must put it into its queue.
    #[inline]
    fn wakes(&self) -> bool {
        let mut state = self.state.load(Ordering::Relaxed);
        loop {
            let next = match state {
                BLOCKED => QUEUED,
                RUNNING => NOTIFIED,
                _ => return false,
            };
            // SYNC POINT task-wake: pairs with task-block and with the queue's lock.
            match self
                .state
                .compare_exchange_weak(state, next, Ordering::AcqRel, Ordering::Relaxed)
            {
                Ok(_) => return state == BLOCKED,
                Err(now) => state = now,
            }
        }
    }
}

impl<P: Platform> Wake for Task<P> {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.wakes() {
            self.satellite.enqueue(self.clone());
        }
    }
}
