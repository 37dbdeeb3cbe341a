//! Supervision: whether something that ended is started again, and when. Pure: time is an argument.
//!
//! One [`Supervision`] watches one process of an application, or one satellite. Back-off doubles from
//! nothing to [`BACKOFF_MAX`]; a run of [`CALM`] forgives what was before.

use satrap_abi::ExitStatus;
use satrap_manifest::Restart;
use std::{collections::VecDeque, time::Duration};

/// Longest pause before a restart.
pub const BACKOFF_MAX: Duration = Duration::from_secs(10);
/// Pause before the second restart in a row; the first is immediate.
pub const BACKOFF_FIRST: Duration = Duration::from_millis(100);
/// A run this long resets the back-off.
pub const CALM: Duration = Duration::from_secs(10);
/// The window in which restarts are counted against the limit.
pub const WINDOW: Duration = Duration::from_secs(60);

/// Time since the coordinator's start.
pub type Now = Duration;

/// Whether an end of this kind calls for a restart. One that the operator asked for never does.
fn wants_restart(policy: Restart, status: ExitStatus) -> bool {
    match policy {
        _ if status == ExitStatus::Killed => false,
        Restart::Never => false,
        Restart::OnFailure => !status.is_success(),
        Restart::Always => true,
    }
}

/// What to do after an end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Leave it.
    Stay,
    /// Start it again at that time.
    RestartAt(Now),
    /// It ended too often: leave it, and tell the operator.
    GiveUp,
}

/// The history that decides.
#[derive(Clone, Debug)]
pub struct Supervision {
    policy: Restart,
    /// Restarts allowed within [`WINDOW`].
    limit: u32,
    /// Times of the restarts within the last [`WINDOW`].
    recent: VecDeque<Now>,
    /// Restarts since the last calm run.
    in_a_row: u32,
    started: Now,
}

impl Supervision {
    /// Watches something that starts now.
    pub fn new(policy: Restart, limit: u32, now: Now) -> Supervision {
        Supervision {
            policy,
            limit,
            recent: VecDeque::new(),
            in_a_row: 0,
            started: now,
        }
    }

    /// It runs (again).
    pub fn started(&mut self, now: Now) {
        self.started = now;
    }

    /// It ended. The death of its satellite is not its fault: restarted at once and not counted.
    pub fn ended(&mut self, now: Now, status: ExitStatus) -> Verdict {
        if !wants_restart(self.policy, status) {
            return Verdict::Stay;
        }
        if status == ExitStatus::KernelDied {
            return Verdict::RestartAt(now);
        }
        while self
            .recent
            .front()
            .is_some_and(|then| now.saturating_sub(*then) >= WINDOW)
        {
            self.recent.pop_front();
        }
        if self.recent.len() >= self.limit as usize {
            return Verdict::GiveUp;
        }
        if now.saturating_sub(self.started) >= CALM {
            self.in_a_row = 0;
        }
        let at = now + backoff(self.in_a_row);
        self.in_a_row += 1;
        self.recent.push_back(at);
        Verdict::RestartAt(at)
    }
}

/// Pause before restart `n` in a row, counted from 0.
fn backoff(n: u32) -> Duration {
    match n.checked_sub(1) {
        None => Duration::ZERO,
        Some(doublings) => (BACKOFF_FIRST * 2u32.pow(doublings.min(16))).min(BACKOFF_MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use satrap_abi::Trap;

    const FAILED: ExitStatus = ExitStatus::Code(1);

    fn ms(milliseconds: u64) -> Now {
        Duration::from_millis(milliseconds)
    }

    fn watch(policy: Restart) -> Supervision {
        Supervision::new(policy, 5, Duration::ZERO)
    }

    #[test]
    fn policies_differ_in_what_they_restart() {
        let restarts = |policy: Restart, status| watch(policy).ended(ms(1), status) != Verdict::Stay;
        for status in [
            ExitStatus::Code(0),
            FAILED,
            ExitStatus::Trap(Trap::Unreachable),
            ExitStatus::KernelDied,
        ] {
            assert!(!restarts(Restart::Never, status));
            assert_eq!(restarts(Restart::OnFailure, status), !status.is_success());
            assert!(restarts(Restart::Always, status));
        }
        assert!(!restarts(Restart::Always, ExitStatus::Killed));
    }

    #[test]
    fn the_pause_doubles_while_failures_follow_each_other() {
        let mut watched = Supervision::new(Restart::OnFailure, 100, Duration::ZERO);
        let pauses: Vec<_> = (0..10)
            .map(|_| match watched.ended(ms(5), FAILED) {
                Verdict::RestartAt(at) => (at - ms(5)).as_millis(),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(pauses, [0, 100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000]);
    }

    #[test]
    fn a_calm_run_forgives_what_was_before() {
        let mut watched = watch(Restart::OnFailure);
        watched.ended(ms(0), FAILED);
        watched.ended(ms(0), FAILED);
        watched.started(ms(1000));
        assert_eq!(watched.ended(ms(11_000), FAILED), Verdict::RestartAt(ms(11_000)));
    }

    #[test]
    fn the_limit_of_a_minute_ends_it_and_the_next_minute_begins_anew() {
        let mut watched = watch(Restart::Always);
        for _ in 0..5 {
            assert!(matches!(watched.ended(ms(0), FAILED), Verdict::RestartAt(_)));
        }
        assert_eq!(watched.ended(ms(0), FAILED), Verdict::GiveUp);
        assert!(matches!(watched.ended(ms(90_000), FAILED), Verdict::RestartAt(_)));
    }

    #[test]
    fn the_death_of_a_satellite_does_not_count_against_its_processes() {
        let mut watched = Supervision::new(Restart::OnFailure, 0, Duration::ZERO);
        for _ in 0..20 {
            assert_eq!(
                watched.ended(ms(7), ExitStatus::KernelDied),
                Verdict::RestartAt(ms(7))
            );
        }
    }
}
