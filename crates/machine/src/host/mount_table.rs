//! Mounts as a process sees them.

use std::{fmt::Display, io};

use super::device_number::DeviceNumber;
use crate::text::read;

/// A mount (`proc_pid_mountinfo(5)`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mount {
    /// Number of the mount, unique on the machine.
    pub(super) id: u64,
    /// Device of the files on it.
    pub(super) device: DeviceNumber,
    /// The directory of the file system that is mounted.
    pub(super) root: String,
    /// The place where it is mounted.
    pub(super) point: String,
    /// Type of the file system.
    pub(super) kind: String,
    /// The device's path, or another text.
    pub(super) source: String,
    /// Options of the file system, separated by commas.
    pub(super) options: String,
}

impl Mount {
    /// Returns all mounts that a process sees. `process` is a name below `/proc`.
    pub(super) fn all(process: impl Display) -> io::Result<Vec<Self>> {
        Ok(Self::parse_all(&read(format!("/proc/{process}/mountinfo"))?))
    }

    pub(super) fn parse_all(text: &str) -> Vec<Self> {
        text.lines().filter_map(Self::parse).collect()
    }

    fn parse(line: &str) -> Option<Self> {
        // Optional fields end at the dash. Spaces inside of a field are escaped.
        let (own, shared) = line.split_once(" - ")?;
        let mut own = own.split(' ');
        let (id, device) = (own.next()?.parse().ok()?, DeviceNumber::parse(own.nth(1)?)?);
        let (root, point) = (unescaped(own.next()?), unescaped(own.next()?));
        let mut shared = shared.split(' ');
        let mut text = || shared.next().map(unescaped);
        Some(Self {
            id,
            device,
            root,
            point,
            kind: text()?,
            source: text()?,
            options: text().unwrap_or_default(),
        })
    }

    /// Returns true if the path is the mount point or below it.
    pub(super) fn contains(&self, path: &str) -> bool {
        let point = self.point.trim_end_matches('/');
        path.strip_prefix(point).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Returns the value of an option of the file system.
    pub(super) fn option(&self, key: &str) -> Option<&str> {
        let mut pairs = self.options.split(',').filter_map(|option| option.split_once('='));
        pairs.find(|(name, _)| *name == key).map(|(_, value)| value)
    }
}

/// Resolves the escapes of the kernel: `\040` is a space.
fn unescaped(text: &str) -> String {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, others)) = rest.split_first() {
        let digits = others.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        let escaped = digits.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        let escaped = escaped.filter(|_| byte == b'\\');
        plain.push(escaped.unwrap_or(byte));
        rest = if escaped.is_some() { &others[3..] } else { others };
    }
    String::from_utf8_lossy(&plain).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard,resuid=65534
33 23 0:27 / /sys/fs/cgroup ro,nosuid - tmpfs tmpfs rw,mode=755
41 27 259:1 /data /var/lib/my\\040data rw shared:5 master:1 - xfs /dev/nvme0n1p1 rw
50 40 0:60 / / rw - overlay overlay rw,lowerdir=/l,upperdir=/docker/u/diff,workdir=/w";

    #[test]
    fn lines_of_mountinfo() {
        let mounts = Mount::parse_all(TEXT);
        assert_eq!(mounts.len(), 4);
        let data = &mounts[2];
        assert_eq!((data.id, data.device.to_string().as_str()), (41, "259:1"));
        assert_eq!((data.root.as_str(), data.point.as_str()), ("/data", "/var/lib/my data"));
        assert_eq!((data.kind.as_str(), data.source.as_str()), ("xfs", "/dev/nvme0n1p1"));
        assert_eq!(mounts[3].option("upperdir"), Some("/docker/u/diff"));
        assert_eq!(mounts[0].option("upperdir"), None);
    }

    #[test]
    fn a_path_below_a_mount_point() {
        let mounts = Mount::parse_all(TEXT);
        let check = |mount: usize, path: &str, expected: bool| {
            assert_eq!(mounts[mount].contains(path), expected, "{mount} {path}");
        };
        check(0, "/var", true);
        check(0, "/", true);
        check(2, "/var/lib/my data", true);
        check(2, "/var/lib/my data/rabbit", true);
        check(2, "/var/lib/my database", false);
    }
}
