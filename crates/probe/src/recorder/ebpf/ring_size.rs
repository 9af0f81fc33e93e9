//! Size of the ring buffer for ticks, and the time for which it has room.

use std::time::Duration;

/// Size of a tick in the ring buffer, unless its stack is very deep: 112 bytes before the frames, and 114 frames of
/// 8 bytes.
pub(super) const TICK_BYTES: u32 = 1 << 10;

/// Usual size of a tick. Most ticks have two thirds of it.
const USUAL_TICK_BYTES: u32 = TICK_BYTES / 2;

/// Minimum of room, for a recorder that does not get a CPU at once.
const LEAST_ROOM: Duration = Duration::from_secs(4);

/// Room for usual ticks if that takes little memory: a recorder that fetches seldom is woken seldom.
const USUAL_ROOM: Duration = Duration::from_secs(10);

/// Limit of little memory.
const LITTLE_BYTES: u64 = 4 << 20;

/// Minimum size: 64 KiB is enough for events without ticks.
const MIN_BYTES: u64 = 1 << 16;

/// Maximum size: 64 MiB is four seconds on 16 CPUs at 999 Hz.
const MAX_BYTES: u64 = 1 << 26;

/// Bytes of the ring for this number of ticks per second, a power of two.
pub(super) fn ring_bytes(ticks_per_second: u32) -> u32 {
    let bytes = |room: Duration, tick_bytes: u32| {
        let ticks = u64::from(ticks_per_second) * room.as_secs();
        ticks * u64::from(tick_bytes)
    };
    let usual = bytes(USUAL_ROOM, USUAL_TICK_BYTES).min(LITTLE_BYTES);
    let wanted = bytes(LEAST_ROOM, TICK_BYTES).max(usual);
    let bytes = wanted.clamp(MIN_BYTES, MAX_BYTES).next_power_of_two();
    u32::try_from(bytes).expect("at most 64 MiB")
}

/// The time for which a ring of that size has room, at this number of usual ticks per second.
pub(in super::super) fn ring_room(ticks_per_second: u32) -> Duration {
    let bytes_per_second = f64::from(ticks_per_second.max(1)) * f64::from(USUAL_TICK_BYTES);
    let room = f64::from(ring_bytes(ticks_per_second)) / bytes_per_second;
    Duration::from_secs_f64(room).min(USUAL_ROOM)
}

#[cfg(test)]
mod tests {
    use super::{ring_bytes, ring_room};

    #[test]
    fn small_rings_have_room_for_usual_ticks_of_ten_seconds() {
        let cases = [
            (0, 1 << 16, 10.0),
            (2 * 19, 1 << 18, 10.0),
            (2 * 99, 1 << 20, 10.0),
            (40 * 19, 1 << 22, 10.0),
            (40 * 99, 1 << 24, 8.274),
            (2 * 999, 1 << 23, 8.2),
            // The largest ring.
            (128 * 999, 1 << 26, 1.025),
        ];
        for (ticks, bytes, seconds) in cases {
            assert_eq!(ring_bytes(ticks), bytes, "{ticks}");
            let room = ring_room(ticks).as_secs_f64();
            assert!((room - seconds).abs() < 0.02, "{ticks}: {room}");
        }
    }
}
