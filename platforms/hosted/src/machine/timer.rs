//! The one-shot preemption timer of a CPU thread: a POSIX timer that signals exactly that thread.
//!
//! A signal that arrives at a moment when nothing can be preempted asks for another a little later (`retry`).
//! `cpu.rs` owns one for each CPU thread.

use super::signals::PREEMPT;
use core::cell::Cell;
use core::mem::zeroed;
use core::ptr::null_mut;
use std::io;

/// Time after which an interrupt that could not preempt comes again, in ns: long enough to cost nothing, short
/// beside any time slice.
const SOON: i64 = 50_000;

thread_local! {
    /// The timer of this thread, for the signal handler.
    static TIMER: Cell<Option<libc::timer_t>> = const { Cell::new(None) };
}

/// A CPU thread's timer.
pub struct Timer(libc::timer_t);

impl Timer {
    /// A timer for the calling thread, whose number is `thread`.
    pub fn new(thread: libc::pid_t) -> io::Result<Timer> {
        // SAFETY: a structure of integers and pointers, for which zero is valid.
        let mut event: libc::sigevent = unsafe { zeroed() };
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = PREEMPT;
        event.sigev_notify_thread_id = thread;
        let mut timer: libc::timer_t = null_mut();
        // SAFETY: both point to structures of ours.
        if unsafe { libc::timer_create(libc::CLOCK_MONOTONIC, &mut event, &mut timer) } != 0 {
            return Err(io::Error::last_os_error());
        }
        TIMER.set(Some(timer));
        Ok(Timer(timer))
    }

    /// Arms it for `deadline`, in ns of `CLOCK_MONOTONIC`, or disarms it.
    pub fn set(&self, deadline: Option<u64>) {
        // A deadline of 0 would disarm the timer instead of firing at once.
        let nanoseconds = deadline.map_or(0, |deadline| deadline.clamp(1, i64::MAX as u64) as i64);
        arm(self.0, libc::TIMER_ABSTIME, nanoseconds);
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        TIMER.set(None);
        // SAFETY: made by `new`, deleted once.
        unsafe { libc::timer_delete(self.0) };
    }
}

/// Makes the calling thread's timer fire soon. Safe in a signal handler.
pub fn interrupt_soon() {
    if let Some(timer) = TIMER.get() {
        arm(timer, 0, SOON);
    }
}

fn arm(timer: libc::timer_t, flags: libc::c_int, nanoseconds: i64) {
    let never = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let setting = libc::itimerspec {
        it_interval: never,
        it_value: libc::timespec {
            tv_sec: nanoseconds / 1_000_000_000,
            tv_nsec: nanoseconds % 1_000_000_000,
        },
    };
    // SAFETY: the timer is alive, and the setting is valid.
    let result = unsafe { libc::timer_settime(timer, flags, &setting, null_mut()) };
    debug_assert_eq!(result, 0);
}
