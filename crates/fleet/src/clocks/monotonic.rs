//! The monotonic clock of this process. It is never set, and each machine counts from its own start.

use std::time::{Duration, Instant};

use rabbitscope_machine::{Namespace, boot_id};
use rustix::time::{ClockId, clock_gettime};

use super::identity::ClockIdentity;

/// Number of paired readings of both clocks; the closest pair is used. Chosen: one of eight is not interrupted.
const READINGS: usize = 8;

/// Nanoseconds on the monotonic clock.
pub(crate) fn now_nanos() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
}

/// Converts a time on the monotonic clock to an [`Instant`].
pub(crate) fn instant_at(nanos: u64) -> Instant {
    let readings = (0..READINGS).map(|_| {
        let (before, instant, after) = (now_nanos(), Instant::now(), now_nanos());
        (after - before, before + (after - before) / 2, instant)
    });
    let closest = readings.min_by_key(|(width, _, _)| *width);
    let (_, read_nanos, instant) = closest.expect("there is more than one");
    if nanos >= read_nanos {
        instant + Duration::from_nanos(nanos - read_nanos)
    } else {
        instant.checked_sub(Duration::from_nanos(read_nanos - nanos)).unwrap_or(instant)
    }
}

/// Returns the identity of this process's clock.
pub(crate) fn identity() -> ClockIdentity {
    let namespace = Namespace::own("time").map(|namespace| format!("time:[{}]", namespace.inode));
    ClockIdentity {
        boot: boot_id().unwrap_or_default(),
        time_namespace: namespace.unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_clocks_are_one() {
        for distance in [0, 5_000_000] {
            let (nanos, instant) = (now_nanos(), Instant::now());
            let later = instant_at(nanos + distance);
            let expected = instant + Duration::from_nanos(distance);
            let apart = later.max(expected) - later.min(expected);
            assert!(apart < Duration::from_millis(1), "{apart:?}");
        }
        let earlier = instant_at(now_nanos() - 1_000_000);
        assert!(earlier < Instant::now());
    }
}
