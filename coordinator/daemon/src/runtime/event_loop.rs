//! The event loop: wait, take frames, let the executive decide, carry out. Thin on purpose.
//!
//! The lock is held only while something is decided; no satellite can hold it up.

use super::{Shared, State, link::Link, process::Process};
use crate::{namespace::KernelLife, satellite::Received};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use satrap_abi::control::FRAME_MAX;
use std::{os::fd::OwnedFd, sync::Arc, time::Duration};

/// Most frames taken from one satellite before the others have their turn.
const FRAMES_EACH: usize = 64;
/// How soon a killed process that cannot be polled is looked at again.
const REAP_AGAIN: Duration = Duration::from_millis(10);

/// A descriptor that the loop waits for.
struct Watched {
    descriptor: Arc<OwnedFd>,
    interest: PollFlags,
    /// What it tells of; nothing for a process that is killed and only to be reaped.
    news: Option<News>,
}

impl Watched {
    fn place(&self) -> PollFd<'_> {
        PollFd::new(&*self.descriptor, self.interest)
    }
}

/// Something about a satellite.
#[derive(Clone, Copy)]
struct News {
    life: KernelLife,
    /// Whether its process has ended.
    died: bool,
}

impl Shared {
    pub(super) fn run(self: Arc<Shared>) {
        let mut buffer = vec![0; FRAME_MAX];
        loop {
            let (watched, timeout) = {
                let state = self.lock();
                if state.executive.is_stopping() && state.links.is_empty() && state.dying.is_empty() {
                    return;
                }
                (state.watched(), self.timeout(&state))
            };
            let ready = self.poll(&watched, timeout);
            let mut state = self.lock();
            for news in ready {
                self.attend(&mut state, news, &mut buffer);
            }
            state.dying.retain_mut(|process| !process.is_reaped());
            state.executive.tick(self.now());
            self.carry_out(&mut state);
            drop(state);
            self.changed.notify_all();
        }
    }

    fn timeout(&self, state: &State) -> Option<Timespec> {
        let deadline = state
            .executive
            .next_deadline()
            .map(|due| due.saturating_sub(self.now()));
        let reap = (!state.dying.is_empty()).then_some(REAP_AGAIN);
        // Times here are far below the range of a timespec.
        deadline
            .into_iter()
            .chain(reap)
            .min()
            .and_then(|wait| wait.try_into().ok())
    }

    /// Waits, and says which satellites there is news of.
    fn poll(&self, watched: &[Watched], timeout: Option<Timespec>) -> Vec<News> {
        let mut places: Vec<PollFd<'_>> = watched.iter().map(Watched::place).collect();
        places.push(PollFd::new(&self.wake, PollFlags::IN));
        // An interrupted or failed wait is one that found nothing.
        let _ = poll(&mut places, timeout.as_ref());
        // Nothing to read means that nobody woke us.
        let _ = rustix::io::read(&self.wake, &mut [0; 8]);
        let ready = places
            .iter()
            .zip(watched)
            .filter(|(place, _)| !place.revents().is_empty());
        ready.filter_map(|(_, each)| each.news).collect()
    }

    /// Sends what waits for a satellite, and takes what it has sent. What one that died had sent before is
    /// still heard.
    fn attend(self: &Arc<Shared>, state: &mut State, news: News, buffer: &mut [u8]) {
        let News { life, died } = news;
        for _ in 0..FRAMES_EACH {
            let Some(link) = state.links.get_mut(&life.kernel).filter(|link| link.life == life) else {
                return;
            };
            let failure = match (link.socket.flush(), link.socket.receive(buffer)) {
                (_, Received::Frame(frame, files)) => {
                    state.executive.frame(self.now(), life, frame, files);
                    self.carry_out(state);
                    continue;
                }
                (_, Received::Garbage(reason)) => format!("it sent garbage to the coordinator: {reason}"),
                (_, Received::Closed) => link.epitaph(),
                (Err(failure), _) => failure.to_string(),
                (Ok(()), Received::Nothing) if died => link.epitaph(),
                (Ok(()), Received::Nothing) => return,
            };
            state.executive.lost(self.now(), life, &failure);
            return self.carry_out(state);
        }
    }
}

impl State {
    fn watched(&self) -> Vec<Watched> {
        let dying = self.dying.iter().filter_map(Process::death).map(|death| Watched {
            descriptor: death,
            interest: PollFlags::IN,
            news: None,
        });
        self.links.values().flat_map(watch).chain(dying).collect()
    }
}

fn watch(link: &Link) -> impl Iterator<Item = Watched> {
    let life = link.life;
    let socket = Watched {
        descriptor: link.socket.descriptor(),
        interest: match link.socket.has_backlog() {
            true => PollFlags::IN | PollFlags::OUT,
            false => PollFlags::IN,
        },
        news: Some(News { life, died: false }),
    };
    let death = link
        .process
        .as_ref()
        .and_then(Process::death)
        .map(|death| Watched {
            descriptor: death,
            interest: PollFlags::IN,
            news: Some(News { life, died: true }),
        });
    std::iter::once(socket).chain(death)
}
