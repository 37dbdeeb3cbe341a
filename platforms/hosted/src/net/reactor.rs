//! A thread that waits for sockets, so that the CPUs need not: epoll in, wakers out.
//!
//! A socket is armed when its task waits, for one event: traffic that nobody waits for wakes nobody. Level
//! triggered, so that what came before the arming counts. Neighbours: `socket`, the kernel's tasks.

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use std::{
    collections::HashMap,
    io,
    os::fd::{AsFd, OwnedFd},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Waker,
    thread,
};

/// Events that one look takes in.
const EVENTS: usize = 64;

type Slot = Arc<Mutex<Option<Waker>>>;

/// The thread and what it watches.
pub(super) struct Reactor {
    epoll: OwnedFd,
    watched: Mutex<Watched>,
}

#[derive(Default)]
struct Watched {
    next: u64,
    slots: HashMap<u64, Slot>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic while it was held leaves each of these whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Reactor {
    /// Starts the thread; it lives as long as the satellite.
    pub(super) fn start() -> io::Result<Arc<Reactor>> {
        let reactor = Arc::new(Reactor {
            epoll: epoll::create(CreateFlags::CLOEXEC)?,
            watched: Mutex::default(),
        });
        let watcher = reactor.clone();
        thread::Builder::new()
            .name("sockets".into())
            .spawn(move || watcher.run())?;
        Ok(reactor)
    }

    fn run(&self) {
        let mut events: Vec<Event> = Vec::with_capacity(EVENTS);
        loop {
            events.clear();
            // Interrupted at most: then it looks again.
            let _ = epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), None);
            for event in &events {
                let slot = lock(&self.watched).slots.get(&event.data.u64()).cloned();
                if let Some(waker) = slot.and_then(|slot| lock(&slot).take()) {
                    waker.wake();
                }
            }
        }
    }
}

/// What a socket can be waited for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Interest {
    /// Bytes, a connection, or the end.
    Readable,
    /// Room.
    Writable,
}

/// A file descriptor under watch, by one task at a time.
pub(super) struct Watch<F: AsFd> {
    file: F,
    token: u64,
    slot: Slot,
    reactor: Arc<Reactor>,
}

impl<F: AsFd> Watch<F> {
    /// Puts a non-blocking file under watch.
    pub(super) fn new(reactor: &Arc<Reactor>, file: F) -> io::Result<Watch<F>> {
        let slot = Slot::default();
        let mut watched = lock(&reactor.watched);
        watched.next += 1;
        let token = watched.next;
        epoll::add(
            &reactor.epoll,
            &file,
            EventData::new_u64(token),
            EventFlags::ONESHOT,
        )?;
        watched.slots.insert(token, slot.clone());
        drop(watched);
        Ok(Watch {
            file,
            token,
            slot,
            reactor: reactor.clone(),
        })
    }

    /// The file.
    pub(super) fn file(&self) -> &F {
        &self.file
    }

    /// Wakes the task once the file is ready; at once, if it is already.
    pub(super) fn arm(&self, interest: Interest, waker: &Waker) -> io::Result<()> {
        *lock(&self.slot) = Some(waker.clone());
        let flags = match interest {
            Interest::Readable => EventFlags::IN | EventFlags::RDHUP,
            Interest::Writable => EventFlags::OUT,
        };
        let token = EventData::new_u64(self.token);
        Ok(epoll::modify(
            &self.reactor.epoll,
            &self.file,
            token,
            flags | EventFlags::ONESHOT,
        )?)
    }
}

impl<F: AsFd> Drop for Watch<F> {
    fn drop(&mut self) {
        // The file leaves the epoll set when it is closed, which is now.
        lock(&self.reactor.watched).slots.remove(&self.token);
    }
}
