//! Eventfds: what a parked CPU sleeps on, and what peers ring. They count, so that a ring before the sleep is
//! not lost.

use rustix::{
    event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll},
    io::{read, write},
};
use satrap_link::Bell;
use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

/// One eventfd.
pub(crate) struct Eventfd(OwnedFd);

impl Eventfd {
    pub(crate) fn new() -> io::Result<Eventfd> {
        Ok(Eventfd(eventfd(0, EventfdFlags::CLOEXEC)?))
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    /// Ends the sleep of whoever sleeps on it, or the next one.
    pub(crate) fn ring(&self) {
        // Fails only if the counter is full: then it rings already.
        let _ = write(&self.0, &1u64.to_ne_bytes());
    }

    /// Sleeps until rung, at most `nanoseconds`. Signals may end it early.
    pub(crate) fn sleep(&self, nanoseconds: Option<u64>) {
        if let Some(nanoseconds) = nanoseconds {
            let timeout = Timespec {
                tv_sec: (nanoseconds / 1_000_000_000) as i64,
                tv_nsec: (nanoseconds % 1_000_000_000) as i64,
            };
            let mut fds = [PollFd::new(&self.0, PollFlags::IN)];
            if !matches!(poll(&mut fds, Some(&timeout)), Ok(1..)) {
                return;
            }
        }
        self.drain();
    }

    /// Waits for a ring and empties it.
    pub(crate) fn drain(&self) {
        let mut count = [0; 8];
        let _ = read(&self.0, &mut count);
    }
}

/// A peer's two bells.
pub(crate) struct PeerBells {
    park: Eventfd,
    interrupt: Eventfd,
    rung: Arc<AtomicU64>,
}

impl PeerBells {
    /// Over the descriptors that came with the peer; `rung` counts.
    pub(crate) fn new(park: OwnedFd, interrupt: OwnedFd, rung: Arc<AtomicU64>) -> PeerBells {
        PeerBells {
            park: Eventfd(park),
            interrupt: Eventfd(interrupt),
            rung,
        }
    }
}

impl Bell for PeerBells {
    fn wake(&self) {
        self.rung.fetch_add(1, Ordering::Relaxed);
        self.park.ring();
    }

    fn interrupt(&self) {
        self.rung.fetch_add(1, Ordering::Relaxed);
        self.interrupt.ring();
    }
}
