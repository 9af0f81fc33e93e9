//! The disk of a directory of a process.

use std::{fs, io, os::unix::fs::MetadataExt, path::Path};

use super::{
    super::{device_number::DeviceNumber, mount_table::Mount},
    block_device::BlockDevice,
    counters::DiskCounters,
};
use crate::text::read;

/// The disk of a directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DataDisk {
    /// Name of the device, such as `vda`.
    pub device: String,
    /// Mount point of the file system, as the process sees it.
    pub mount: String,
    number: DeviceNumber,
    passed: Vec<DeviceNumber>,
}

impl DataDisk {
    /// Finds the disk of a directory that a process names `path`. `mount` is the number of the directory's mount, if it
    /// is known; links in the path then do not mislead.
    pub(in super::super) fn find(
        pid: u32,
        path: &str,
        mount: Option<u64>,
    ) -> io::Result<Option<Self>> {
        let mounts = Mount::all(pid)?;
        Ok(mount_of(&mounts, path, mount).and_then(Self::from_mount))
    }

    fn from_mount(mount: &Mount) -> Option<Self> {
        let BlockDevice { name, number, passed } =
            BlockDevice::find(Path::new("/sys"), device_of(mount)?)?;
        Some(Self { device: name, mount: mount.point.clone(), number, passed })
    }

    /// Returns the devices that a request passes.
    pub(in super::super) fn passed(&self) -> &[DeviceNumber] {
        &self.passed
    }

    /// Returns the counters now.
    pub(in super::super) fn counters(&self) -> Option<DiskCounters> {
        DiskCounters::parse(&read("/proc/diskstats").ok()?, self.number)
    }
}

/// Returns the mount with this number, or without a number the innermost one. A later mount hides an earlier one.
fn mount_of<'a>(mounts: &'a [Mount], path: &str, number: Option<u64>) -> Option<&'a Mount> {
    let numbered = number.and_then(|number| mounts.iter().find(|mount| mount.id == number));
    numbered.or_else(|| {
        let around = mounts.iter().filter(|mount| mount.contains(path));
        around.max_by_key(|mount| mount.point.trim_end_matches('/').len())
    })
}

/// Returns the device with the files of a mount. A file system of several devices (btrfs) has no number of a device; its
/// source is one of them. An overlay writes to its upper directory, which only processes outside of the container see.
fn device_of(mount: &Mount) -> Option<DeviceNumber> {
    if mount.device.major != 0 {
        return Some(mount.device);
    }
    if let Some(upper) = mount.option("upperdir") {
        let held = DeviceNumber::from_stat(fs::metadata(upper).ok()?.dev());
        return (held.major != 0).then_some(held);
    }
    let source = Some(&mount.source).filter(|source| source.starts_with("/dev/"))?;
    let device = DeviceNumber::from_stat(fs::metadata(source).ok()?.rdev());
    (device.major != 0).then_some(device)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
27 1 254:0 / / rw - ext4 /dev/vda rw
41 27 259:1 / /var/lib/rabbitmq rw - xfs /dev/nvme0n1p1 rw
42 27 8:1 / /var rw - ext4 /dev/sda1 rw
43 27 0:50 / /memory rw - tmpfs tmpfs rw";

    #[test]
    fn the_mount_of_a_path() {
        let mounts = Mount::parse_all(TEXT);
        let check = |path: &str, number, expected: u64| {
            assert_eq!(mount_of(&mounts, path, number).unwrap().id, expected, "{path}");
        };
        check("/var/lib/rabbitmq/mnesia", None, 41);
        check("/var/lib", None, 42);
        check("/home", None, 27);
        check("/home", Some(41), 41);
        check("/home", Some(999), 27);
    }

    #[test]
    fn memory_has_no_device() {
        let mounts = Mount::parse_all(TEXT);
        assert_eq!(device_of(&mounts[1]), DeviceNumber::parse("259:1"));
        assert_eq!(device_of(&mounts[3]), None);
    }

    #[test]
    fn the_disk_of_this_machine() {
        let own = std::process::id();
        let Some(disk) = DataDisk::find(own, "/", None).unwrap() else { return };
        assert!(disk.counters().is_some(), "{disk:?}");
        assert!(disk.passed().contains(&disk.number));
    }
}
