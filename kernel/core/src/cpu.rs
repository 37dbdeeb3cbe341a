//! One CPU of a satellite: its run queue, its deadlines, and whether it sleeps.
//!
//! A task of a higher class runs first; within a class it is first come, first served. The preemption timer is
//! armed only while more than one thing can run (DESIGN §3: tickless otherwise).

use crate::{platform::Platform, task::Task, timer::Timers};
use alloc::{collections::VecDeque, sync::Arc};
use satrap_sync::{AtomicBool, AtomicU64, AtomicUsize, Ordering, SpinLock, Waiting, fence};

/// Scheduling classes, 0 the highest.
pub(crate) const CLASSES: usize = 4;

/// How long a thread runs before another of its class gets its turn, in ns.
pub(crate) const QUANTUM: u64 = 10_000_000;

/// State of one CPU.
pub(crate) struct Cpu<P: Platform> {
    queues: SpinLock<[VecDeque<Arc<Task<P>>>; CLASSES]>,
    ready: AtomicUsize,
    pub(crate) timers: Timers,
    /// Raised before it parks; whoever queues a task then unparks it.
    pub(crate) parked: Waiting,
    /// Until when the preemption timer is armed.
    armed_until: AtomicU64,
    /// What the clock said when this CPU last looked.
    now: AtomicU64,
    /// Since when the present task runs, in ticks; 0 when none does.
    pub(crate) running_since: AtomicU64,
    /// Whose thread that task is; 0 for the kernel's own.
    pub(crate) running: AtomicU64,
    /// Running time of all tasks, in ticks.
    pub(crate) busy: AtomicU64,
    pub(crate) switches: AtomicU64,
    pub(crate) preemptions: AtomicU64,
    pub(crate) parks: AtomicU64,
    /// A blocking kernel call has polled in vain: the executor need not poll again.
    pub(crate) polled: AtomicBool,
    /// Kernel calls on this CPU look at the links: whoever finds this set knows that they did since it was
    /// last cleared.
    pub(crate) looks: AtomicBool,
}

impl<P: Platform> Cpu<P> {
    pub(crate) fn new() -> Cpu<P> {
        Cpu {
            queues: SpinLock::default(),
            ready: AtomicUsize::new(0),
            timers: Timers::new(),
            parked: Waiting::new(),
            armed_until: AtomicU64::new(0),
            now: AtomicU64::new(0),
            running_since: AtomicU64::new(0),
            running: AtomicU64::new(0),
            busy: AtomicU64::new(0),
            switches: AtomicU64::new(0),
            preemptions: AtomicU64::new(0),
            parks: AtomicU64::new(0),
            polled: AtomicBool::new(false),
            looks: AtomicBool::new(false),
        }
    }

    /// Reads the clock and remembers what it said.
    pub(crate) fn look_at_clock(&self, platform: &P) -> u64 {
        let now = platform.now();
        self.now.store(now, Ordering::Relaxed);
        now
    }

    /// What the clock said when this CPU last looked.
    pub(crate) fn last_look(&self) -> u64 {
        self.now.load(Ordering::Relaxed)
    }

    /// Whose thread runs, and for how many ticks already: time that nobody has been charged for yet.
    pub(crate) fn uncharged(&self, now: u64) -> (u64, u64) {
        let since = self.running_since.load(Ordering::Relaxed);
        let spent = if since == 0 { 0 } else { now.saturating_sub(since) };
        (self.running.load(Ordering::Relaxed), spent)
    }

    /// How many tasks wait for their turn.
    #[inline]
    pub(crate) fn ready(&self) -> usize {
        self.ready.load(Ordering::Relaxed)
    }

    /// Puts a task behind the others of its class. Returns whether a task runs: one that was taken out before,
    /// so that its executor may not have seen this one when it decided whether to arm the preemption timer.
    #[inline]
    pub(crate) fn push(&self, task: Arc<Task<P>>) -> bool {
        let mut queues = self.queues.lock();
        queues[task.class().min(CLASSES - 1)].push_back(task);
        self.ready
            .store(self.ready.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        self.running_since.load(Ordering::Relaxed) != 0
    }

    /// Takes the next task, which runs from `begin` on, in ticks. Whoever queues another sees that, or this CPU
    /// sees the other in [`Cpu::ready`]: the lock decides.
    #[inline]
    pub(crate) fn pop(&self, begin: impl FnOnce() -> u64) -> Option<Arc<Task<P>>> {
        if self.ready() == 0 {
            return None;
        }
        let mut queues = self.queues.lock();
        let task = queues.iter_mut().find_map(VecDeque::pop_front)?;
        self.ready
            .store(self.ready.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
        self.running_since.store(begin(), Ordering::Relaxed);
        Some(task)
    }

    /// A task from elsewhere runs from `begin` on; as with [`Cpu::pop`].
    pub(crate) fn take_over(&self, begin: u64) {
        let _queues = self.queues.lock();
        self.running_since.store(begin, Ordering::Relaxed);
    }

    /// Takes a task that may run on another CPU: one of `movable`, the one that came last.
    pub(crate) fn steal(&self, movable: impl Fn(&Task<P>) -> bool) -> Option<Arc<Task<P>>> {
        let mut queues = self.queues.try_lock()?;
        let task = queues.iter_mut().find_map(|queue| {
            let at = queue.iter().rposition(|task| movable(task))?;
            queue.remove(at)
        })?;
        self.ready
            .store(self.ready.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
        Some(task)
    }

    /// Whether the preemption timer will fire.
    #[inline]
    pub(crate) fn is_armed(&self) -> bool {
        self.armed_until.load(Ordering::Relaxed) > self.now.load(Ordering::Relaxed)
    }

    /// Sees to it that the preemption timer fires within about `delay` ns. Leaves it alone where it does
    /// already: arming costs a look at the clock and a system call or a device access.
    #[inline]
    pub(crate) fn arm(&self, platform: &P, index: usize, delay: u64) {
        let deadline = self.now.load(Ordering::Relaxed).saturating_add(delay);
        if !self.is_armed() || self.armed_until.load(Ordering::Relaxed) > deadline {
            self.rearm(platform, index, delay);
        }
    }

    #[cold]
    fn rearm(&self, platform: &P, index: usize, delay: u64) {
        let deadline = self.look_at_clock(platform).saturating_add(delay);
        self.armed_until.store(deadline, Ordering::Relaxed);
        platform.set_timer(index, Some(deadline));
    }

    /// The preemption timer has fired. Look at what is ready only afterwards: whoever queues a task and still
    /// finds the timer armed interrupts nobody.
    pub(crate) fn disarmed(&self) {
        self.armed_until.store(0, Ordering::Relaxed);
        // SYNC POINT timer-spent: pairs with wait-wake, which `enqueue` passes before it looks at the timer.
        fence(Ordering::SeqCst);
    }
}

/// Bounds a loop that polls. In each sixteenth turn it gives the platform a moment and looks at the clock, the
/// first time after sixteen: what is waited for may be there at once, and either would be half of what such a
/// loop does.
pub(crate) struct Patience {
    budget: u64,
    started: Option<u64>,
    now: u64,
    turns: u32,
}

impl Patience {
    /// For at most `budget` ns.
    pub(crate) fn new(budget: u64) -> Patience {
        Patience {
            budget,
            started: None,
            now: 0,
            turns: 0,
        }
    }

    /// Before each turn: about what time it is, 0 while that is not known, or `None` when the budget is used up.
    #[inline]
    pub(crate) fn turn(&mut self, platform: &impl Platform) -> Option<u64> {
        self.turns = self.turns.wrapping_add(1);
        if self.turns.is_multiple_of(16) {
            platform.relax();
            self.now = platform.now();
            self.started.get_or_insert(self.now);
        }
        let spent = self.now - self.started.unwrap_or(self.now);
        (spent < self.budget).then_some(self.now)
    }
}

/// Adds to a counter that one CPU alone writes: no locked instruction is needed.
#[inline(always)]
pub(crate) fn count(counter: &AtomicU64, more: u64) {
    counter.store(counter.load(Ordering::Relaxed) + more, Ordering::Relaxed);
}
