//! The difference of a disk's counters.

use rabbitscope_diagnosis::Disk;
use rabbitscope_machine::host::{DataDisk, DiskCounters};

/// Returns the work of a disk between two readings, in a time in seconds.
pub(super) fn disk(
    disk: &DataDisk,
    before: &DiskCounters,
    after: &DiskCounters,
    seconds: f64,
) -> Disk {
    let count = |before: u64, after: u64| after.saturating_sub(before) as f64;
    // Times start again at zero after 32 bits.
    let time = |before: u32, after: u32| f64::from(after.wrapping_sub(before));
    let writes = count(before.writes, after.writes);
    let flushes = before.flushes.zip(after.flushes).map(|(before, after)| count(before, after));
    let flush_ms = before.flush_ms.zip(after.flush_ms).map(|(before, after)| time(before, after));
    let mean = |time: f64, count: f64| (count > 0.0).then(|| time / count);
    Disk {
        device: disk.device.clone(),
        mount: disk.mount.clone(),
        busy_share: (time(before.busy_ms, after.busy_ms) / 1e3 / seconds).min(1.0),
        writes_per_second: writes / seconds,
        write_ms: mean(time(before.write_ms, after.write_ms), writes),
        flushes_per_second: flushes.map(|flushes| flushes / seconds),
        flush_ms: flushes.zip(flush_ms).and_then(|(flushes, time)| mean(time, flushes)),
        in_flight: time(before.requests_ms, after.requests_ms) / 1e3 / seconds,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(before: DiskCounters, after: DiskCounters) -> Disk {
        disk(&DataDisk::default(), &before, &after, 10.0)
    }

    #[test]
    fn work_of_ten_seconds() {
        let before = DiskCounters {
            writes: 1_000,
            write_ms: u32::MAX - 499,
            busy_ms: 7,
            requests_ms: 0,
            flushes: Some(50),
            flush_ms: Some(100),
        };
        let after = DiskCounters {
            writes: 1_500,
            write_ms: 500,
            busy_ms: 4_007,
            requests_ms: 20_000,
            flushes: Some(150),
            flush_ms: Some(900),
        };
        let found = check(before, after);
        let expected = Disk {
            device: String::new(),
            mount: String::new(),
            busy_share: 0.4,
            writes_per_second: 50.0,
            write_ms: Some(2.0),
            flushes_per_second: Some(10.0),
            flush_ms: Some(8.0),
            in_flight: 2.0,
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn a_disk_without_work_has_no_durations() {
        let idle = DiskCounters { flushes: Some(5), flush_ms: Some(5), ..DiskCounters::default() };
        let found = check(idle, idle);
        assert_eq!((found.write_ms, found.flush_ms), (None, None));
        assert_eq!((found.flushes_per_second, found.busy_share), (Some(0.0), 0.0));
        let old = DiskCounters::default();
        assert_eq!(check(old, old).flushes_per_second, None);
    }
}
