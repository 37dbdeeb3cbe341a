//! The runtime: one thread that polls the satellites and feeds the executive, and the lock through which
//! others ask it. Every decision is the executive's; here stand only sockets, children and time.

mod event_loop;
mod link;
mod process;

use crate::{
    executive::{Effect, Executive},
    install::{Installer, Program},
    namespace::KernelLife,
    satellite::Launcher,
    supervise::Now,
};
use link::Link;
use process::Process;
use rustix::event::{EventfdFlags, eventfd};
use satrap_abi::{KernelId, control::ToSatellite};
use std::{
    collections::BTreeMap,
    io,
    os::fd::OwnedFd,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// What the threads of a coordinator share.
pub struct Shared {
    state: Mutex<State>,
    /// Told after each change, for those who wait for one.
    changed: Condvar,
    /// Wakes the event loop: something was done that it must look at.
    wake: OwnedFd,
    began: Instant,
    launcher: Box<dyn Launcher>,
    installer: Arc<Installer>,
}

/// The executive, and what carries out its effects.
pub struct State {
    /// Everything that is known and decided.
    pub executive: Executive,
    links: BTreeMap<KernelId, Link>,
    /// Satellites that were closed and are not reaped yet.
    dying: Vec<Process>,
}

impl Shared {
    /// The state machine with the means to carry out its effects. `began` is time 0.
    pub fn new(
        executive: Executive,
        launcher: Box<dyn Launcher>,
        installer: Arc<Installer>,
        began: Instant,
    ) -> io::Result<Arc<Shared>> {
        let state = State {
            executive,
            links: BTreeMap::new(),
            dying: Vec::new(),
        };
        Ok(Arc::new(Shared {
            state: Mutex::new(state),
            changed: Condvar::new(),
            wake: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
            began,
            launcher,
            installer,
        }))
    }

    /// Starts the event loop; it ends when the executive is shutting down and every satellite is gone.
    pub fn start(self: &Arc<Shared>) -> io::Result<JoinHandle<()>> {
        let shared = self.clone();
        thread::Builder::new()
            .name("satrap-events".into())
            .spawn(move || shared.run())
    }

    /// Time since the coordinator's start.
    pub fn now(&self) -> Now {
        self.began.elapsed()
    }

    /// The installer.
    pub fn installer(&self) -> &Installer {
        &self.installer
    }

    /// The launcher.
    pub fn launcher(&self) -> &dyn Launcher {
        &*self.launcher
    }

    /// Looks at the executive.
    pub fn look<T>(&self, look: impl FnOnce(&Executive, Now) -> T) -> T {
        look(&self.lock().executive, self.now())
    }

    /// Lets something be decided, and carries out what follows.
    pub fn act<T>(self: &Arc<Shared>, act: impl FnOnce(&mut Executive, Now) -> T) -> T {
        let mut state = self.lock();
        let result = act(&mut state.executive, self.now());
        self.carry_out(&mut state);
        drop(state);
        self.changed.notify_all();
        // Full only when the loop has not woken for 2^64 writes.
        let _ = rustix::io::write(&self.wake, &1u64.to_ne_bytes());
        result
    }

    /// Waits until `look` finds something, or the time is over.
    pub fn wait<T>(&self, limit: Duration, mut look: impl FnMut(&Executive) -> Option<T>) -> Option<T> {
        let deadline = Instant::now() + limit;
        let mut state = self.lock();
        loop {
            if let Some(found) = look(&state.executive) {
                return Some(found);
            }
            let left = deadline.checked_duration_since(Instant::now())?;
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// A panic under the lock is a bug of ours; the state is still the best that there is (STYLE habit 8).
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does everything that the executive has decided, and what it decides upon that.
    fn carry_out(self: &Arc<Shared>, state: &mut State) {
        loop {
            let effects = state.executive.take_effects();
            if effects.is_empty() {
                return;
            }
            for effect in effects {
                self.effect(state, effect);
            }
        }
    }

    fn effect(self: &Arc<Shared>, state: &mut State, effect: Effect) {
        match effect {
            Effect::Launch(life) => match self.launcher.launch(life.kernel) {
                Ok(launched) => {
                    let link = Link::new(life, launched);
                    let pid = link.process.as_ref().map(Process::pid);
                    state.executive.launched(life, pid);
                    state.links.insert(life.kernel, link);
                }
                Err(error) => state.executive.lost(self.now(), life, &error.to_string()),
            },
            Effect::Send(to, frame, files) => self.send(state, to, &frame, files),
            Effect::Load(to, artifact) => {
                let load = ToSatellite::Load {
                    artifact: artifact.digest,
                    length: artifact.length,
                };
                self.send(state, to, &load, vec![artifact.reopen()]);
            }
            Effect::Close(life) => {
                let link = state.links.remove(&life.kernel);
                state.dying.extend(link.and_then(Link::close));
            }
            Effect::Repair(program) => self.repair(program),
        }
    }

    /// Without a link the satellite is gone, and the frame with it.
    fn send(&self, state: &mut State, to: KernelLife, frame: &ToSatellite, files: Vec<Arc<OwnedFd>>) {
        let link = state.links.get_mut(&to.kernel).filter(|link| link.life == to);
        if let Some(Err(failure)) = link.map(|link| link.socket.send(frame, files)) {
            state.executive.lost(self.now(), to, &failure.to_string());
        }
    }

    /// Compiles in a thread of its own: it may take seconds.
    fn repair(self: &Arc<Shared>, program: Arc<Program>) {
        let shared = self.clone();
        thread::spawn(move || {
            let result = shared
                .installer
                .repair(&program)
                .map_err(|error| error.to_string());
            shared.act(|executive, now| executive.repaired(now, &program, result));
        });
    }
}
