//! The executor of one CPU: the loop that every satellite kernel is.
//!
//! Each step looks at the deadlines and the links, then runs one task until it pauses. With nothing to run the
//! CPU polls for about twice the cost of a wake-up and then parks; it says so first and looks once more, so
//! that no sender is missed (DESIGN §3, Barrelfish §III on polling before sleeping).

use crate::{
    cpu::{Cpu, Patience, QUANTUM, count},
    engine::{Pause, Resume, Thread},
    link::Link,
    platform::Platform,
    rmp::KnownLinks,
    satellite::Satellite,
    task::{Body, Task},
};
use alloc::sync::Arc;
use core::task::{Context, Waker};
use satrap_link::Attention;
use satrap_sync::{Ordering, relax};

/// How long a lone thread may run before the peers are asked to ring instead of to rely on polling, in ns.
const LINK_GRACE: u64 = 1_000_000;
/// How long a doorbell may stay unanswered before it is rung again, in ns.
pub(crate) const DOORBELL_PATIENCE: u64 = 20_000_000;
/// Ticks between two looks at the links while tasks follow each other: one to four microseconds.
const LOOK_EVERY: u64 = 4_000;
/// How long a queued task waits behind a running one before an idle CPU takes it over, in ns.
const STEAL_AFTER: u64 = 50_000;

/// What one step did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// It ran a task or took in messages.
    Ran,
    /// Nothing can run before this time, or before something arrives.
    Idle(Option<u64>),
    /// The satellite has shut down.
    Stopped,
}

/// The executor of one CPU; driven by its thread of control.
pub struct Executor<P: Platform> {
    satellite: Arc<Satellite<P>>,
    cpu: Arc<Cpu<P>>,
    index: usize,
    links: KnownLinks,
    attention: Attention,
    /// When the task that the last step ran paused, in ticks; 0 if it ran none.
    paused_at: u64,
    /// When this CPU last looked at the links, in ticks.
    looked_at: u64,
}

impl<P: Platform> Executor<P> {
    /// The executor of CPU `index` of a satellite; one for each.
    pub fn new(satellite: Arc<Satellite<P>>, index: usize) -> Executor<P> {
        Executor {
            cpu: satellite.cpus[index].clone(),
            satellite,
            index,
            links: KnownLinks::default(),
            attention: Attention::Polling,
            paused_at: 0,
            looked_at: 0,
        }
    }

    fn cpu(&self) -> &Cpu<P> {
        &self.cpu
    }

    /// CPU 0 answers the doorbells of the whole satellite.
    fn answers_doorbells(&self) -> bool {
        self.index == 0 && !self.links.is_empty()
    }

    /// Runs until the satellite shuts down.
    pub fn run(&mut self) {
        loop {
            match self.step() {
                Step::Ran => {}
                Step::Idle(_) => self.idle(),
                Step::Stopped => return,
            }
        }
    }

    /// One scheduling decision.
    #[inline]
    pub fn step(&mut self) -> Step {
        // Without deadlines nobody needs to know the time.
        if self.cpu().timers.next().is_some() {
            self.fire_timers();
        }
        let received = self.links_are_due() && self.poll_links();
        if let Some(task) = self.cpu().pop(|| self.begins_at()) {
            self.run_task(task);
            return Step::Ran;
        }
        self.paused_at = 0;
        if received {
            return Step::Ran;
        }
        if self.satellite.has_stopped() {
            return Step::Stopped;
        }
        match self.satellite.steal_for(self.index, STEAL_AFTER) {
            Some(task) => {
                self.cpu().take_over(self.begins_at());
                self.run_task(task);
                Step::Ran
            }
            None => Step::Idle(self.cpu().timers.next()),
        }
    }

    /// When what is taken out of the queue now begins to run, in ticks: where the last task paused.
    fn begins_at(&self) -> u64 {
        match self.paused_at {
            0 => self.satellite.platform().ticks(),
            last => last,
        }
    }

    /// Looks at the clock and wakes whose deadline has come.
    fn fire_timers(&self) {
        let now = self.cpu().look_at_clock(self.satellite.platform());
        self.cpu().timers.fire(now);
    }

    /// Between tasks that follow each other closely the links are looked at now and then.
    #[inline]
    fn links_are_due(&mut self) -> bool {
        let due = self.cpu().ready() == 0 || self.paused_at.wrapping_sub(self.looked_at) > LOOK_EVERY;
        if due {
            self.looked_at = self.paused_at;
        }
        due
    }

    /// Takes in what the links brought. Returns whether there was anything.
    fn poll_links(&mut self) -> bool {
        self.satellite.poll_links(&mut self.links)
    }

    fn set_attention(&mut self, attention: Attention) {
        if self.answers_doorbells() {
            self.attention = attention;
            self.satellite.platform().set_attention(attention);
        }
    }

    fn idle(&mut self) {
        let platform = self.satellite.platform().clone();
        let polled = self.cpu().polled.swap(false, Ordering::Relaxed);
        let budget = if polled { 0 } else { platform.poll_budget() };
        let mut patience = Patience::new(budget);
        while let Some(now) = patience.turn(&*platform) {
            relax();
            if self.has_work(now, |link| link.has_frames()) {
                return;
            }
        }
        if let Some(deadline) = self.before_park() {
            platform.park(self.index, deadline);
        }
        self.after_park();
    }

    /// Says that this CPU sleeps and looks once more: until when it may sleep, or `None` if there is work. The
    /// simulation calls this and [`Executor::after_park`] instead of [`Executor::run`].
    pub fn before_park(&mut self) -> Option<Option<u64>> {
        self.cpu().parked.announce();
        self.set_attention(Attention::Parked);
        let now = self.satellite.platform().now();
        if self.has_work(now, |link| link.has_frames_left()) {
            return None;
        }
        count(&self.cpu().parks, 1);
        Some(self.wake_at(now))
    }

    /// This CPU is awake again.
    pub fn after_park(&mut self) {
        self.cpu().parked.withdraw();
        self.set_attention(Attention::Polling);
        self.cpu().look_at_clock(self.satellite.platform());
    }

    fn has_work(&self, now: u64, looks: impl FnMut(&Arc<Link>) -> bool) -> bool {
        self.cpu().ready() > 0
            || self.satellite.has_stopped()
            || self.links.is_old(&self.satellite.rmp)
            || self.links.iter().any(looks)
            || self.cpu().timers.next().is_some_and(|deadline| deadline <= now)
    }

    /// The next deadline, unanswered doorbells included: CPU 0 may sleep while this one's bell is lost.
    fn wake_at(&self, now: u64) -> Option<u64> {
        let insist = |link: &Arc<Link>| link.insist(now, DOORBELL_PATIENCE);
        let doorbells = self.links.iter().filter_map(insist).min();
        [self.cpu().timers.next(), doorbells].into_iter().flatten().min()
    }

    #[inline]
    fn run_task(&mut self, task: Arc<Task<P>>) {
        let turn = match &task.thread {
            Some((process, _)) => process.takes_turn(&task),
            None => true,
        };
        let Some(mut run) = turn.then(|| task.begin()).flatten() else {
            self.cpu().running_since.store(0, Ordering::Relaxed);
            return;
        };
        if self.attention == Attention::Busy {
            self.set_attention(Attention::Polling);
        }
        self.arm_for(&task);
        let owner = task.thread.as_ref().map_or(0, |(process, _)| process.id.0);
        let begin = self.cpu().running_since.load(Ordering::Relaxed);
        self.cpu().running.store(owner, Ordering::Relaxed);
        count(&self.cpu().switches, 1);
        let pause = match run.as_mut() {
            Some(Body::Thread(thread)) => self.run_thread(&task, thread),
            Some(Body::Future(future)) => poll_future(&task, future),
            None => None,
        };
        let ended = !matches!(pause, Some(Pause::Suspended | Pause::Preempted));
        let remains = if ended { run.take() } else { None };
        self.account(&task, begin);
        match pause {
            Some(Pause::Suspended) => {
                self.passes_turn(&task);
                if !run.block() {
                    self.satellite.enqueue(task);
                }
            }
            Some(Pause::Preempted) => {
                if let Some((process, _)) = &task.thread {
                    process.keeps_turn(&task);
                }
                run.requeue();
                self.satellite.enqueue(task);
            }
            Some(Pause::Finished(status)) => {
                run.finish();
                drop(remains);
                self.satellite.thread_ended(&task, status);
            }
            None => run.finish(),
        }
    }

    /// The timer is needed when others wait, or when peers rely on polling while a thread runs.
    fn arm_for(&self, task: &Task<P>) {
        if task.thread.is_none() {
            return;
        }
        if self.cpu().ready() > 0 {
            self.cpu().arm(self.satellite.platform(), self.index, QUANTUM);
        } else if self.answers_doorbells() {
            self.cpu().arm(self.satellite.platform(), self.index, LINK_GRACE);
        }
    }

    /// A thread that runs must not make others miss their deadlines.
    fn arm_for_deadline(&self) {
        if let Some(deadline) = self.cpu().timers.next() {
            let delay = deadline.saturating_sub(self.cpu().last_look());
            self.cpu().arm(self.satellite.platform(), self.index, delay);
        }
    }

    #[inline(always)]
    fn run_thread(&mut self, task: &Arc<Task<P>>, thread: &mut impl Thread) -> Option<Pause> {
        loop {
            let how = if task
                .thread
                .as_ref()
                .is_some_and(|(process, _)| process.is_dying())
            {
                Resume::Die
            } else {
                Resume::Run
            };
            let pause = thread.resume(how);
            if pause != Pause::Preempted || !self.continues_alone(task) {
                return Some(pause);
            }
        }
    }

    /// After a preemption: whether the thread may go on because nothing else can run. From then on the timer
    /// stays silent, and peers ring.
    fn continues_alone(&mut self, task: &Task<P>) -> bool {
        self.cpu().disarmed();
        count(&self.cpu().preemptions, 1);
        self.fire_timers();
        self.links.refresh(&self.satellite.rmp);
        if self.cpu().looks.swap(false, Ordering::Relaxed) {
            // Its calls look at the links themselves: peers can go on relying on that for another while.
            self.set_attention(Attention::Polling);
            self.cpu().arm(self.satellite.platform(), self.index, LINK_GRACE);
        } else {
            self.set_attention(Attention::Busy);
        }
        self.poll_links();
        self.arm_for_deadline();
        let dying = task
            .thread
            .as_ref()
            .is_some_and(|(process, _)| process.is_dying());
        self.cpu().ready() == 0 && !dying
    }

    #[inline]
    fn account(&mut self, task: &Task<P>, since: u64) {
        let now = self.satellite.platform().ticks();
        let spent = now.saturating_sub(since);
        self.paused_at = now;
        self.cpu().running_since.store(0, Ordering::Relaxed);
        count(&self.cpu().busy, spent);
        if let Some((process, _)) = &task.thread {
            process.charge_time(spent);
        }
    }

    /// The thread waits: others of its process may run.
    #[inline]
    fn passes_turn(&self, task: &Task<P>) {
        if let Some((process, _)) = &task.thread {
            process.yields_turn(|held| self.satellite.enqueue(held));
        }
    }
}

fn poll_future<P: Platform>(
    task: &Arc<Task<P>>,
    future: &mut core::pin::Pin<alloc::boxed::Box<dyn Future<Output = ()> + Send>>,
) -> Option<Pause> {
    let waker = Waker::from(task.clone());
    match future.as_mut().poll(&mut Context::from_waker(&waker)) {
        core::task::Poll::Pending => Some(Pause::Suspended),
        core::task::Poll::Ready(()) => None,
    }
}
