//! Ticks: the processor's time-stamp counter where it has one that user programs may read.
//!
//! Reading it takes a third of what reading the clock takes, which counts where threads switch every 200 ns. How
//! long a tick is follows from both since the start, exactly enough for accounts, and better with every second.

/// The counter now.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn now() -> u64 {
    // SAFETY: every x86-64 processor has the instruction, and Linux allows it.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// The counter now: the clock's nanoseconds.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn now() -> u64 {
    crate::platform::monotonic()
}

/// The start from which the length of a tick is counted.
pub(crate) struct Ticks {
    ticks: u64,
    nanoseconds: u64,
}

impl Ticks {
    /// From here on; `clock` is the monotonic clock in ns.
    pub(crate) fn starting(clock: u64) -> Ticks {
        Ticks {
            ticks: now(),
            nanoseconds: clock,
        }
    }

    /// Nanoseconds in so many ticks, at the rate since the start. `clock` is the monotonic clock in ns.
    pub(crate) fn nanoseconds_in(&self, ticks: u64, clock: u64) -> u64 {
        let passed = u128::from(now().saturating_sub(self.ticks).max(1));
        let nanoseconds = u128::from(clock.saturating_sub(self.nanoseconds));
        (u128::from(ticks) * nanoseconds / passed) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::monotonic;
    use std::time::Duration;

    #[test]
    fn ticks_tell_the_time_that_passed() {
        let ticks = Ticks::starting(monotonic());
        let (first, began) = (now(), monotonic());
        std::thread::sleep(Duration::from_millis(20));
        let (passed, clock) = (now() - first, monotonic());
        let error = ticks.nanoseconds_in(passed, clock).abs_diff(clock - began);
        assert!(error < 1_000_000, "{error} ns");
    }
}
