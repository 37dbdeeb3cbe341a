//! How a kernel call waits: it polls while nobody else wants the CPU, and then gives its thread back to the executor.
//!
//! Nothing is held meanwhile; whoever is woken looks again. What is awaited is the business of the other files.

use super::CallContext;
use crate::{
    cpu::Patience,
    engine::{End, Engine, Resume},
    event::Event,
    message::Message,
    platform::Platform,
    rmp::RemoteEnd,
};
use core::task::Waker;
use satrap_abi::Errno;
use satrap_sync::{Ordering, relax};

/// Messages that a thread sends between two looks at the links.
const ATTEND_EVERY: u32 = 8;
/// How often a thread that polls for something from another satellite looks at the links before it looks
/// elsewhere.
const TURNS: u32 = 32;

/// What a kernel call waits for.
pub(super) trait Awaited<T> {
    /// Looks whether it is there; [`Errno::WouldBlock`] if not. If it is not and there is a waker, leaves that
    /// where a change will find it, and looks once more.
    fn look(&mut self, waker: Option<&Waker>) -> Result<T, Errno>;

    /// Whether it can only come from another satellite.
    fn comes_by_a_link(&self) -> bool {
        false
    }

    /// Takes a message that has just come in, if it is what is awaited.
    #[inline]
    fn take(&mut self, _end: &RemoteEnd, _message: &mut Message) -> Option<Result<T, Errno>> {
        None
    }
}

impl<T, F: FnMut(Option<&Waker>) -> Result<T, Errno>> Awaited<T> for F {
    #[inline(always)]
    fn look(&mut self, waker: Option<&Waker>) -> Result<T, Errno> {
        self(waker)
    }
}

impl<P: Platform> CallContext<P> {
    /// Gives the CPU away until something wakes the thread; it looks again then.
    #[inline(always)]
    pub(super) fn suspend(&self) -> Result<(), End> {
        match P::Engine::suspend() {
            Resume::Run => Ok(()),
            Resume::Die => Err(End(self.process.fate())),
        }
    }

    /// Waits until what is awaited gives something else than [`Errno::WouldBlock`], or the deadline passes.
    #[inline(always)]
    pub(super) fn wait_until<T>(
        &self,
        deadline: u64,
        mut awaited: impl Awaited<T>,
    ) -> Result<Result<T, Errno>, End> {
        let mut polls = self.polls();
        // One place that looks, so that all of it is compiled into this function.
        loop {
            match awaited.look((!polls && deadline != 0).then_some(&self.waker)) {
                Err(Errno::WouldBlock) if deadline != 0 => {}
                done => return Ok(done),
            }
            if core::mem::take(&mut polls) {
                if let Some(done) = self.poll_for(&mut awaited) {
                    return Ok(done);
                }
            } else if self.sleep(deadline)? {
                return Ok(Err(Errno::TimedOut));
            }
        }
    }

    /// Whether it makes sense to poll before the thread gives its CPU away: somebody else may bring what it
    /// waits for, and nobody else wants the CPU.
    #[inline]
    fn polls(&self) -> bool {
        let others = self.satellite.cpus.len() > 1 || self.satellite.rmp.has_links();
        others && self.satellite.cpus[self.task.cpu()].ready() == 0
    }

    /// Suspends until woken or until the deadline; whether the deadline has passed.
    #[inline(always)]
    pub(super) fn sleep(&self, deadline: u64) -> Result<bool, End> {
        if deadline == satrap_abi::call::FOREVER {
            return self.suspend().map(|()| false);
        }
        self.doze(deadline)
    }

    #[inline(never)]
    fn doze(&self, deadline: u64) -> Result<bool, End> {
        if self.satellite.platform().now() >= deadline {
            return Ok(true);
        }
        let timers = &self.satellite.cpus[self.task.cpu()].timers;
        let key = timers.arm(deadline, &self.waker);
        let resumed = self.suspend();
        timers.cancel(key);
        resumed.map(|()| false)
    }

    /// While nothing else can run here, looks for a while before it gives the CPU away: what comes from another
    /// CPU or satellite is then met by a thread that is still on its stack. `None` if nothing came.
    #[inline(never)]
    fn poll_for<T>(&self, awaited: &mut impl Awaited<T>) -> Option<Result<T, Errno>> {
        let platform = self.satellite.platform();
        let cpu = &self.satellite.cpus[self.task.cpu()];
        let mut links = self.links.borrow_mut();
        links.refresh(&self.satellite.rmp);
        let turns = match awaited.comes_by_a_link() {
            true => TURNS.div_ceil(links.len().max(1) as u32),
            false => 0,
        };
        let mut patience = Patience::new(platform.poll_budget());
        while let Some(now) = patience.turn(&**platform) {
            if cpu.ready() > 0 || self.process.is_dying() {
                return None;
            }
            if !links.is_empty() {
                cpu.looks.store(true, Ordering::Relaxed);
            }
            if turns == 0 {
                relax();
            }
            let mut taken = None;
            for link in links.iter() {
                self.satellite.poll_link(link, turns, &mut |end, message| {
                    if taken.is_none() {
                        taken = awaited.take(end, message);
                        return taken.is_some();
                    }
                    false
                });
            }
            match taken.unwrap_or_else(|| awaited.look(None)) {
                Err(Errno::WouldBlock) => {}
                result => return Some(result),
            }
            if cpu.timers.next().is_some_and(|deadline| deadline <= now) {
                break;
            }
        }
        cpu.polled.store(true, Ordering::Relaxed);
        None
    }

    /// After a message was sent: looks at the links now and then. Who sends much is answered much (credits,
    /// loans that come back), and the peers need not ring for it.
    #[inline(always)]
    pub(super) fn attend(&self) {
        let unattended = self.unattended.get() + 1;
        self.unattended.set(unattended);
        if unattended >= ATTEND_EVERY {
            self.unattended.set(0);
            if self.satellite.rmp.has_links() {
                self.look_at_links();
            }
        }
    }

    #[inline(never)]
    fn look_at_links(&self) {
        let cpu = &self.satellite.cpus[self.task.cpu()];
        cpu.looks.store(true, Ordering::Relaxed);
        self.satellite.poll_links(&mut self.links.borrow_mut());
    }

    /// Waits for one event.
    pub(super) fn wait_event<T>(
        &self,
        deadline: u64,
        event: &Event,
        mut ready: impl FnMut() -> Result<T, Errno>,
    ) -> Result<Result<T, Errno>, End> {
        self.wait_until(deadline, |waker: Option<&Waker>| match (ready(), waker) {
            (Err(Errno::WouldBlock), Some(waker)) => {
                event.announce(waker);
                ready()
            }
            (done, _) => done,
        })
    }
}
