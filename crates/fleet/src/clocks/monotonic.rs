//! The monotonic clock of this process: it is never set, and starts at a time of its own on each machine.

use std::{
    fs,
    time::{Duration, Instant},
};

use rustix::time::{ClockId, clock_gettime};

use super::identity::ClockIdentity;

/// Readings of both clocks of which the closest pair is taken. Chosen: one of eight is not interrupted.
const READINGS: usize = 8;

/// Nanoseconds since the clock's start.
pub(crate) fn now_nanos() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
}

/// The same point in time as the standard library has it.
pub(crate) fn instant_at(nanos: u64) -> Instant {
    let readings = (0..READINGS).map(|_| {
        let (before, instant, after) = (now_nanos(), Instant::now(), now_nanos());
        (after - before, before + (after - before) / 2, instant)
    });
    let closest = readings.min_by_key(|(width, _, _)| *width);
    let (_, at, instant) = closest.expect("there is more than one");
    if nanos >= at {
        instant + Duration::from_nanos(nanos - at)
    } else {
        instant.checked_sub(Duration::from_nanos(at - nanos)).unwrap_or(instant)
    }
}

/// Which clock this is.
pub(crate) fn identity() -> ClockIdentity {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let namespace = fs::read_link("/proc/self/ns/time").unwrap_or_default();
    ClockIdentity { boot: boot.trim().to_owned(), time_namespace: namespace.display().to_string() }
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
