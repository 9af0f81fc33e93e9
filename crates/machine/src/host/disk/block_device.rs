//! Block devices, and the devices that they are made of.

use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use super::super::device_number::DeviceNumber;
use crate::text::read;

/// Limit for devices upon devices: a partition below a logical volume below an encrypted device.
const MAX_LAYERS: usize = 8;

/// A block device with the devices below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BlockDevice {
    /// Name of the disk, such as `vda`.
    pub(super) name: String,
    /// Number of the disk, which counts the requests.
    pub(super) number: DeviceNumber,
    /// Numbers of all devices that a request passes, and of those that hold the file of a loop device.
    pub(super) passed: Vec<DeviceNumber>,
}

impl BlockDevice {
    /// Finds a device below `sys`, usually `/sys`. A partition has the counters of its disk, and a mapped device
    /// those of the only device below it: only disks count flushes. A loop device has its own counters.
    pub(super) fn find(sys: &Path, number: DeviceNumber) -> Option<Self> {
        let (mut place, mut passed) = (directory(sys, number)?, vec![number]);
        for _ in 0..MAX_LAYERS {
            let Some(below) = device_below(&place) else { break };
            place = below;
            passed.push(number_of(&place)?);
        }
        let number = *passed.last()?;
        if let Some(holder) = holder_of_file(&place) {
            passed.extend(disks_of(sys, holder));
        }
        Some(Self { name: place.file_name()?.to_str()?.to_owned(), number, passed })
    }
}

fn directory(sys: &Path, number: DeviceNumber) -> Option<PathBuf> {
    fs::canonicalize(sys.join(format!("dev/block/{number}"))).ok()
}

fn number_of(place: &Path) -> Option<DeviceNumber> {
    DeviceNumber::parse(&read(place.join("dev")).ok()?)
}

/// Returns the disk of a partition, or the only device below a mapped one.
fn device_below(place: &Path) -> Option<PathBuf> {
    if place.join("partition").exists() {
        return place.parent().map(Path::to_owned);
    }
    let mut slaves = fs::read_dir(place.join("slaves")).ok()?.flatten();
    let (first, second) = (slaves.next()?, slaves.next());
    if second.is_some() { None } else { fs::canonicalize(first.path()).ok() }
}

/// Returns the device with the file of a loop device.
fn holder_of_file(place: &Path) -> Option<DeviceNumber> {
    let file = read(place.join("loop/backing_file")).ok()?;
    Some(DeviceNumber::from_stat(fs::metadata(file.trim_end_matches('\n')).ok()?.dev()))
}

/// Returns the device and those below it.
fn disks_of(sys: &Path, number: DeviceNumber) -> Vec<DeviceNumber> {
    let mut found = vec![number];
    let mut place = directory(sys, number);
    while let Some(below) = place.as_deref().and_then(device_below) {
        if found.len() > MAX_LAYERS {
            break;
        }
        found.extend(number_of(&below));
        place = Some(below);
    }
    found
}

#[cfg(test)]
mod tests {
    use std::{os::unix::fs::symlink, process};

    use super::*;

    /// A tree like `/sys`, which is removed at the end.
    struct Tree(PathBuf);

    impl Tree {
        fn new(name: &str) -> Self {
            let name = format!("rabbitscope-block-{name}-{}", process::id());
            let tree = Self(std::env::temp_dir().join(name));
            fs::create_dir_all(tree.0.join("dev/block")).unwrap();
            tree
        }

        fn device(&self, path: &str, number: &str, slaves: &[&str]) {
            let place = self.0.join("devices").join(path);
            fs::create_dir_all(place.join("slaves")).unwrap();
            fs::write(place.join("dev"), format!("{number}\n")).unwrap();
            for slave in slaves {
                let target = self.0.join("devices").join(slave);
                symlink(&target, place.join("slaves").join(target.file_name().unwrap())).unwrap();
            }
            symlink(&place, self.0.join("dev/block").join(number)).unwrap();
        }

        fn partition(&self, path: &str, number: &str) {
            self.device(path, number, &[]);
            fs::write(self.0.join("devices").join(path).join("partition"), "1\n").unwrap();
        }

        fn check(&self, number: &str, expected: Option<(&str, &str, &[&str])>) {
            let parse = |text: &str| DeviceNumber::parse(text).unwrap();
            let expected = expected.map(|(name, number, passed)| BlockDevice {
                name: name.to_owned(),
                number: parse(number),
                passed: passed.iter().map(|text| parse(text)).collect(),
            });
            assert_eq!(BlockDevice::find(&self.0, parse(number)), expected, "{number}");
        }
    }

    impl Drop for Tree {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn requests_are_counted_by_disks() {
        let tree = Tree::new("disks");
        tree.device("pci/vda", "254:0", &[]);
        tree.partition("pci/vda/vda1", "254:1");
        tree.device("virtual/dm-0", "252:0", &["pci/vda/vda1"]);
        tree.device("virtual/dm-1", "252:1", &["virtual/dm-0"]);
        tree.check("254:0", Some(("vda", "254:0", &["254:0"])));
        tree.check("254:1", Some(("vda", "254:0", &["254:1", "254:0"])));
        tree.check("252:1", Some(("vda", "254:0", &["252:1", "252:0", "254:1", "254:0"])));
        tree.check("9:9", None);
    }

    #[test]
    fn a_device_of_several_disks_is_its_own() {
        let tree = Tree::new("several");
        tree.device("pci/sda", "8:0", &[]);
        tree.device("pci/sdb", "8:16", &[]);
        tree.device("virtual/md0", "9:0", &["pci/sda", "pci/sdb"]);
        tree.check("9:0", Some(("md0", "9:0", &["9:0"])));
    }

    #[test]
    fn a_loop_device_is_its_own_and_passes_that_of_its_file() {
        let tree = Tree::new("loop");
        tree.device("virtual/loop0", "7:0", &[]);
        let place = tree.0.join("devices/virtual/loop0/loop");
        fs::create_dir_all(&place).unwrap();
        fs::write(place.join("backing_file"), format!("{}\n", tree.0.display())).unwrap();
        let found = BlockDevice::find(&tree.0, DeviceNumber::parse("7:0").unwrap()).unwrap();
        let holder = DeviceNumber::from_stat(fs::metadata(&tree.0).unwrap().dev());
        assert_eq!((found.name.as_str(), found.number), ("loop0", found.passed[0]));
        assert_eq!(found.passed, [found.number, holder]);
    }
}
