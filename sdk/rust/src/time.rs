//! Time and deadlines. The clock is monotonic and the same on every satellite of the machine, so that an
//! instant can be sent in a message.

use std::ops::{Add, Sub};
use std::time::Duration;

use crate::raw;

/// The deadline that never comes.
pub const FOREVER: u64 = satrap_abi::call::FOREVER;

/// The deadline that has always passed: look, but do not wait.
pub const AT_ONCE: u64 = 0;

/// A point in time: nanoseconds of the machine's monotonic clock.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Instant(u64);

impl Instant {
    /// An instant from a clock reading, such as one that came in a message.
    pub const fn from_nanos(nanos: u64) -> Instant {
        Instant(nanos)
    }

    /// The clock reading: what `*_until` functions take as a deadline.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// How long ago it was; zero if it is still to come.
    pub fn elapsed(self) -> Duration {
        now() - self
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;

    /// The instant that much later; one that cannot be told is [`FOREVER`].
    fn add(self, duration: Duration) -> Instant {
        let nanos = u64::try_from(duration.as_nanos()).unwrap_or(FOREVER);
        Instant(self.0.saturating_add(nanos))
    }
}

impl Sub for Instant {
    type Output = Duration;

    /// The time between two instants; zero if `earlier` is the later one.
    fn sub(self, earlier: Instant) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

/// Now.
pub fn now() -> Instant {
    Instant(raw::clock_now())
}

/// The deadline that far from now: `endpoint.recv_until(time::after(Duration::from_secs(1)))`.
pub fn after(duration: Duration) -> u64 {
    (now() + duration).as_nanos()
}

/// Time since the Unix epoch, as the operator set the clock.
pub fn since_epoch() -> Duration {
    Duration::from_nanos(raw::clock_wall())
}

/// Lets this thread rest.
pub fn sleep(duration: Duration) {
    sleep_until(now() + duration);
}

/// Lets this thread rest until an instant.
pub fn sleep_until(instant: Instant) {
    // It fails only when the process is being ended, and then the thread does not come back to see it.
    raw::sleep_until(instant.as_nanos());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_saturate_instead_of_wrapping() {
        assert_eq!((Instant::from_nanos(5) + Duration::MAX).as_nanos(), FOREVER);
        assert_eq!(Instant::from_nanos(5) - Instant::from_nanos(9), Duration::ZERO);
        assert_eq!(
            Instant::from_nanos(9) - Instant::from_nanos(5),
            Duration::from_nanos(4)
        );
    }
}
