//! Counters of a disk's requests.

use super::super::device_number::DeviceNumber;

/// Counters of a disk since the boot (Documentation/admin-guide/iostats.rst). Times are in milliseconds. The kernel
/// prints times with 32 bits, so that they start again after 49 days.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskCounters {
    /// Completed writes.
    pub writes: u64,
    /// Time of all writes.
    pub write_ms: u32,
    /// Time in which requests were in flight.
    pub busy_ms: u32,
    /// Time of all requests, added up.
    pub requests_ms: u32,
    /// Completed flushes, since Linux 5.5.
    pub flushes: Option<u64>,
    /// Time of all flushes, since Linux 5.5.
    pub flush_ms: Option<u32>,
}

impl DiskCounters {
    /// Finds the disk in the text of `/proc/diskstats`.
    pub(in super::super) fn parse(text: &str, disk: DeviceNumber) -> Option<Self> {
        let is_disk = |fields: &Vec<&str>| {
            let number =
                DeviceNumber { major: fields[0].parse().ok()?, minor: fields[1].parse().ok()? };
            (number == disk).then_some(())
        };
        let mut lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let fields = lines.find(|fields| fields.len() > 2 && is_disk(fields).is_some())?;
        // The documentation counts fields from 1, behind both numbers and the name.
        let text = |number: usize| fields.get(number + 2).copied();
        let count = |number: usize| text(number)?.parse::<u64>().ok();
        let time = |number: usize| text(number)?.parse::<u32>().ok();
        Some(Self {
            writes: count(5)?,
            write_ms: time(8)?,
            busy_ms: time(10)?,
            requests_ms: time(11)?,
            flushes: count(16),
            flush_ms: time(17),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
 254       0 vda 7884078 245477 371143730 113081185 9319992 2641933 1395147960 11184851 3 3432768 125146075 2577772 210 1250379664 635498 2417031 244539
   8       0 sda 1 2 3 4 5 6 7 8 9 10 11
";

    #[test]
    fn counters_of_a_disk() {
        let read = |text| DiskCounters::parse(TEXT, DeviceNumber::parse(text).unwrap());
        let expected = DiskCounters {
            writes: 9_319_992,
            write_ms: 11_184_851,
            busy_ms: 3_432_768,
            requests_ms: 125_146_075,
            flushes: Some(2_417_031),
            flush_ms: Some(244_539),
        };
        assert_eq!(read("254:0"), Some(expected));
        assert_eq!(read("9:0"), None);
        let old = read("8:0").unwrap();
        assert_eq!((old.writes, old.requests_ms, old.flushes), (5, 11, None));
    }
}
