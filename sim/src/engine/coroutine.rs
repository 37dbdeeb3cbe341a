//! A guest's thread as a coroutine: an operating-system thread that runs only while it is resumed.
//!
//! Exactly one side runs at a time, so that a run is one logical thread and repeats from its seed. Safe Rust has
//! no other stackful coroutine, and a kernel call must be able to wait in its middle.

use satrap_abi::ExitStatus;
use satrap_kernel::engine::{Pause, Resume};
use std::{
    cell::RefCell,
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    thread::{Builder, JoinHandle},
};

/// Stack of a guest's thread, in bytes: the kernel's calls and a small routine.
const STACK: usize = 256 << 10;

/// What a guest's thread tells its kernel when it hands the CPU back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Signal {
    /// It pauses, or has ended.
    Pause(Pause),
    /// It runs on, but other CPUs run meanwhile.
    Interlude,
}

type Body = Box<dyn FnOnce() -> ExitStatus + Send>;

/// The guest's side: where it hands the CPU to, and where it gets it back.
struct Inside {
    signals: SyncSender<Signal>,
    resumes: Receiver<Resume>,
}

thread_local! {
    static INSIDE: RefCell<Option<Inside>> = const { RefCell::new(None) };
}

/// Hands the CPU back from within a guest's thread, until it is resumed. Outside of one: the guest is to die.
pub fn pass(signal: Signal) -> Resume {
    INSIDE
        .with_borrow(|inside| {
            let inside = inside.as_ref()?;
            inside.signals.send(signal).ok()?;
            inside.resumes.recv().ok()
        })
        // The other side has gone.
        .unwrap_or(Resume::Die)
}

/// A coroutine.
pub struct Coroutine {
    state: State,
}

enum State {
    New(Option<Body>),
    Running(Outside),
    Ended,
}

/// The kernel's side.
struct Outside {
    resumes: SyncSender<Resume>,
    signals: Receiver<Signal>,
    thread: JoinHandle<()>,
}

impl Coroutine {
    /// A coroutine that has not begun.
    pub fn new(body: Body) -> Coroutine {
        Coroutine {
            state: State::New(Some(body)),
        }
    }

    /// Lets it run until it hands the CPU back. One that has not begun and is to die never begins.
    pub fn resume(&mut self, how: Resume) -> Signal {
        const ENDED: Signal = Signal::Pause(Pause::Finished(ExitStatus::Killed));
        if let State::New(body) = &mut self.state {
            let body = body.take().filter(|_| how == Resume::Run);
            self.state = body.and_then(begin).map_or(State::Ended, State::Running);
        }
        let State::Running(outside) = &self.state else {
            return ENDED;
        };
        let handed = outside.resumes.send(how).ok();
        let signal = handed.and_then(|()| outside.signals.recv().ok()).unwrap_or(ENDED);
        if let Signal::Pause(Pause::Finished(_)) = signal
            && let State::Running(outside) = std::mem::replace(&mut self.state, State::Ended)
        {
            // It has said its last word; its panics were caught within.
            let _ = outside.thread.join();
        }
        signal
    }
}

/// Starts the thread behind a coroutine; it waits for its first turn.
fn begin(body: Body) -> Option<Outside> {
    let (resumes, at_inside) = sync_channel::<Resume>(1);
    let (signals, at_outside) = sync_channel(1);
    let run = move || {
        let Ok(how) = at_inside.recv() else { return };
        let inside = Inside {
            signals: signals.clone(),
            resumes: at_inside,
        };
        INSIDE.set(Some(inside));
        let status = if how == Resume::Run {
            body()
        } else {
            ExitStatus::Killed
        };
        let _ = signals.send(Signal::Pause(Pause::Finished(status)));
    };
    let thread = Builder::new().stack_size(STACK).spawn(run).ok()?;
    Some(Outside {
        resumes,
        signals: at_outside,
        thread,
    })
}

impl Drop for Coroutine {
    /// A coroutine that is dropped before its end unwinds first.
    fn drop(&mut self) {
        while let State::Running(_) = self.state {
            self.resume(Resume::Die);
        }
        self.state = State::Ended;
    }
}
