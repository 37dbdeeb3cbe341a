//! The event loop: wait, take frames, let the executive decide, carry out. Thin on purpose.
//!
//! The lock is held only while something is decided; no satellite can hold it up.

use super::{Shared, State, link::reap};
use crate::{namespace::KernelLife, satellite::Received};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use satrap_abi::control::FRAME_MAX;
use std::{os::fd::OwnedFd, sync::Arc, time::Duration};

/// Most frames taken from one satellite before the others have their turn.
const FRAMES_EACH: usize = 64;
/// How soon a child that did not die at once is looked at again.
const REAP_AGAIN: Duration = Duration::from_millis(10);

/// What the loop waits for on behalf of one satellite.
struct Watched {
    life: KernelLife,
    socket: Arc<OwnedFd>,
    interest: PollFlags,
    death: Option<Arc<OwnedFd>>,
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
            for (life, died) in ready {
                self.attend(&mut state, life, died, &mut buffer);
            }
            state.dying.retain_mut(|child| reap(child).is_none());
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

    /// Waits, and says which satellites have something to say, and which of those are dead.
    fn poll(&self, watched: &[Watched], timeout: Option<Timespec>) -> Vec<(KernelLife, bool)> {
        let mut places = vec![PollFd::new(&self.wake, PollFlags::IN)];
        let mut owners = Vec::new();
        for each in watched {
            places.push(PollFd::new(&each.socket, each.interest));
            owners.push((each.life, false));
            if let Some(death) = &each.death {
                places.push(PollFd::new(death, PollFlags::IN));
                owners.push((each.life, true));
            }
        }
        // An interrupted or failed wait is one that found nothing.
        let _ = poll(&mut places, timeout.as_ref());
        // Nothing to read means that nobody woke us.
        let _ = rustix::io::read(&self.wake, &mut [0; 8]);
        let fired = |(place, owner): (&PollFd<'_>, _)| (!place.revents().is_empty()).then_some(owner);
        places[1..].iter().zip(owners).filter_map(fired).collect()
    }

    /// Sends what waits for a satellite, and takes what it has sent. What one that `died` had sent before is
    /// still heard.
    fn attend(self: &Arc<Shared>, state: &mut State, life: KernelLife, died: bool, buffer: &mut [u8]) {
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
        let watch = |link: &super::Link| Watched {
            life: link.life,
            socket: link.socket.descriptor(),
            interest: match link.socket.has_backlog() {
                true => PollFlags::IN | PollFlags::OUT,
                false => PollFlags::IN,
            },
            death: link.death.clone(),
        };
        self.links.values().map(watch).collect()
    }
}
