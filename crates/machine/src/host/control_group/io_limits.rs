//! Limits of reads and writes.

use std::path::{Path, PathBuf};

use super::super::device_number::DeviceNumber;
use crate::text::read;

/// Files of version 1, each with the key of the same limit in version 2.
const VERSION_1: [(&str, &str); 4] = [
    ("blkio.throttle.read_bps_device", "rbps"),
    ("blkio.throttle.write_bps_device", "wbps"),
    ("blkio.throttle.read_iops_device", "riops"),
    ("blkio.throttle.write_iops_device", "wiops"),
];

/// Returns the limits of these groups for these devices as `io.max` prints them, separated by `; `. Empty without
/// limits.
pub(in super::super) fn io_limits(groups: &[PathBuf], devices: &[DeviceNumber]) -> String {
    let limits = groups.iter().flat_map(|group| limits_of(group)).filter(|(device, limit)| {
        devices.contains(device) && limit.split(' ').any(|part| !part.ends_with("=max"))
    });
    let texts = limits.map(|(device, limit)| format!("{device} {limit}"));
    texts.collect::<Vec<_>>().join("; ")
}

fn limits_of(group: &Path) -> Vec<(DeviceNumber, String)> {
    let rows = |name: &str| read(group.join(name)).unwrap_or_default();
    let mut found: Vec<_> = parsed(&rows("io.max")).collect();
    for (name, key) in VERSION_1 {
        found.extend(parsed(&rows(name)).map(|(device, limit)| (device, format!("{key}={limit}"))));
    }
    found
}

fn parsed(text: &str) -> impl Iterator<Item = (DeviceNumber, String)> {
    text.lines().filter_map(|line| {
        let (device, limit) = line.split_once(' ')?;
        Some((DeviceNumber::parse(device)?, limit.trim().to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use std::{fs, process};

    use super::*;

    #[test]
    fn limits_of_both_versions() {
        let name = format!("rabbitscope-io-limits-{}", process::id());
        let directory = std::env::temp_dir().join(name);
        let (inner, outer) = (directory.join("inner"), directory.clone());
        fs::create_dir_all(&inner).unwrap();
        fs::write(
            inner.join("io.max"),
            "254:0 rbps=max wbps=1048576 riops=max wiops=max\n7:0 rbps=max wbps=max riops=max wiops=max\n\
             8:0 rbps=1 wbps=max riops=max wiops=max\n",
        )
        .unwrap();
        fs::write(outer.join("blkio.throttle.write_iops_device"), "7:0 50\n").unwrap();
        let devices = ["254:0", "7:0"].map(|text| DeviceNumber::parse(text).unwrap());
        let found = io_limits(&[inner, outer], &devices);
        fs::remove_dir_all(&directory).unwrap();
        assert_eq!(found, "254:0 rbps=max wbps=1048576 riops=max wiops=max; 7:0 wiops=50");
        assert_eq!(io_limits(&[directory], &devices), "");
    }
}
