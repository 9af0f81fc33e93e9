//! Adds windows to the directory, and removes windows beyond the limits of age and size.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use anyhow::Context;
use rabbitscope_files::{AtomicFile, Directory, WriteError};
use rabbitscope_profiles::{Profile, write_pprof_fast};

use super::{
    layout::{hours, make_hour, open_hour, parts, windows_in},
    name::WindowName,
    owned::Ownership,
};
/// Divisor of the size limit: a removal by size frees this part of the limit in addition, so that removals are rare.
const SLACK: u64 = 50;

/// Interval between searches for windows that are too old: a directory of an hour may have a thousand names.
const AGE_INTERVAL: Duration = Duration::from_secs(60);

/// Limits of age and size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArchiveLimits {
    /// Maximum age of a window.
    pub max_age: Duration,
    /// Maximum size of all windows.
    pub max_bytes: u64,
}

/// The directory that this process writes to.
#[derive(Debug)]
pub struct WindowArchive {
    /// Limits of age and size, which may change.
    pub limits: ArchiveLimits,
    /// Bytes by directory of an hour, so that memory does not grow with the number of windows.
    bytes_by_hour: BTreeMap<PathBuf, u64>,
    next_look_at_age: Instant,
    ownership: Ownership,
}

impl WindowArchive {
    /// Takes the directory, and counts the bytes of its windows.
    pub fn open(root: &Path, limits: ArchiveLimits) -> anyhow::Result<Self> {
        let ownership = Ownership::take(root)?;
        let mut bytes_by_hour = BTreeMap::new();
        for hour in hours(root)? {
            let bytes = windows_in(&root.join(&hour)).map(|(_, _, bytes)| bytes).sum();
            bytes_by_hour.insert(hour, bytes);
        }
        let next_look_at_age = Instant::now();
        Ok(Self { limits, bytes_by_hour, next_look_at_age, ownership })
    }

    /// Writes a window. It is there in full or not at all, unless the machine loses power. The write is not synced to
    /// the disk, because a broker may wait for the same disk.
    pub fn store(&mut self, name: &WindowName, profile: &Profile) -> anyhow::Result<()> {
        let hour = name.hour();
        let root = &self.ownership.directory;
        let directory = make_hour(root, &hour)
            .with_context(|| format!("cannot make {}", root.path().join(&hour).display()))?;
        let (directory, name) = (Arc::new(directory), name.to_string());
        let mut file = AtomicFile::in_directory(Arc::clone(&directory), name.as_ref())?;
        write_pprof_fast(profile, file.writer())
            .with_context(|| format!("cannot write {}", directory.path().join(&name).display()))?;
        file.commit_unsynced()?;
        let bytes = directory.length(name.as_ref()).unwrap_or(0);
        *self.bytes_by_hour.entry(hour).or_default() += bytes;
        Ok(())
    }

    /// Returns the bytes of all windows.
    pub fn bytes(&self) -> u64 {
        self.bytes_by_hour.values().sum()
    }

    /// Removes windows that exceed the maximum age, once a minute, and the oldest windows while the total size
    /// exceeds its limit. It removes only files with the name of a window, and directories that become empty.
    pub fn remove_old(&mut self) {
        if Instant::now() >= self.next_look_at_age || self.bytes() > self.limits.max_bytes {
            self.remove();
            self.next_look_at_age = Instant::now() + AGE_INTERVAL;
        }
    }

    fn remove(&mut self) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let oldest = now.saturating_sub(self.limits.max_age);
        while let Some(hour) = self.bytes_by_hour.keys().next().cloned() {
            let too_much = self.bytes().saturating_sub(self.limits.max_bytes);
            let wanted = if too_much > 0 { too_much + self.limits.max_bytes / SLACK } else { 0 };
            self.remove_from(&hour, oldest, wanted);
            if self.bytes_by_hour.contains_key(&hour) {
                break;
            }
        }
    }

    /// Removes windows that began before `oldest`, and the oldest of the rest until `wanted` bytes are gone.
    fn remove_from(&mut self, hour: &Path, oldest: Duration, wanted: u64) {
        let (day, opened) = match open_hour(&self.ownership.directory, hour) {
            Ok(opened) => opened,
            Err(error) => {
                if is_not_ours(&error) {
                    self.bytes_by_hour.remove(hour);
                }
                // Other errors are retried later.
                return;
            }
        };
        let mut windows = windows_of(&opened);
        windows.sort();
        let all = windows.len();
        let (mut removed, mut count) = (0, 0);
        for (name, file, bytes) in windows {
            if removed >= wanted && name.started() >= oldest {
                break;
            }
            // A file that cannot be removed counts as removed, so that the archive does not retry it forever.
            let _ = opened.remove_file(&file);
            removed += bytes;
            count += 1;
        }
        if count == all {
            self.bytes_by_hour.remove(hour);
            // Either call fails if the directory holds other files.
            let (day_name, hour_name) = parts(hour);
            let _ = day.remove_directory(hour_name);
            let _ = self.ownership.directory.remove_directory(day_name);
        } else if let Some(bytes) = self.bytes_by_hour.get_mut(hour) {
            *bytes = bytes.saturating_sub(removed);
        }
    }
}

/// Returns the windows of an open directory, with their file names and sizes.
fn windows_of(hour: &Directory) -> Vec<(WindowName, OsString, u64)> {
    let names = hour.names().unwrap_or_default().into_iter();
    let windows = names.filter_map(|file| {
        let name = WindowName::parse(file.to_str()?)?;
        let bytes = hour.length(&file).ok()?;
        Some((name, file, bytes))
    });
    windows.collect()
}

/// Returns whether the directory is gone, or another file, which is not ours, is in its place.
fn is_not_ours(error: &WriteError) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound};
    error.is_usage() || matches!(error.kind(), NotFound | NotADirectory)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use rabbitscope_profiles::read_folded;

    use super::*;

    fn name(started: Duration) -> WindowName {
        WindowName {
            started_millis: u64::try_from(started.as_millis()).unwrap(),
            duration_millis: 10_000,
            event: "cpu",
            weight_millis: 7,
            node: "rabbit@h".to_owned(),
            version: String::new(),
            pid: 1,
        }
    }

    fn count(root: &Path) -> usize {
        hours(root).unwrap().iter().map(|hour| windows_in(&root.join(hour)).count()).sum()
    }

    #[test]
    fn what_is_old_or_too_much_goes_and_what_is_of_others_stays() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("windows");
        let hour = Duration::from_secs(3600);
        let limits = ArchiveLimits { max_age: 10 * hour, max_bytes: u64::MAX };
        let mut archive = WindowArchive::open(&root, limits).unwrap();
        let profile = read_folded("a;b 7".as_bytes()).unwrap();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let ago = |hours: u32| now.saturating_sub(hours * hour);
        for hours_ago in [20, 15, 5, 4, 3, 0] {
            archive.store(&name(ago(hours_ago)), &profile).unwrap();
        }
        let theirs = root.join(name(ago(20)).hour()).join("notes.txt");
        fs::write(&theirs, "not a window").unwrap();
        archive.remove_old();
        assert_eq!(count(&root), 4);
        assert!(theirs.exists());
        let one = archive.bytes() / 4;
        archive.limits.max_bytes = 3 * one;
        archive.remove_old();
        assert!(archive.bytes() <= 3 * one && count(&root) >= 2);
        drop(archive);
        let again = WindowArchive::open(&root, limits).unwrap();
        assert!(again.bytes() >= one);
        assert!(theirs.exists());
    }

    #[test]
    fn what_a_link_leads_to_is_not_ours() {
        let directory = tempfile::tempdir().unwrap();
        let (root, theirs) = (directory.path().join("windows"), directory.path().join("theirs"));
        let limits = ArchiveLimits { max_age: Duration::from_secs(3600), max_bytes: u64::MAX };
        let mut archive = WindowArchive::open(&root, limits).unwrap();
        let profile = read_folded("a;b 7".as_bytes()).unwrap();
        let old = name(Duration::from_secs(1_700_000_000));
        archive.store(&old, &profile).unwrap();
        let day = root.join(old.hour()).parent().unwrap().to_owned();
        let mode =
            std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&day).unwrap().permissions());
        assert_eq!(mode & 0o007, 0, "a window has names of queues and clients");
        fs::rename(&day, &theirs).unwrap();
        std::os::unix::fs::symlink(&theirs, &day).unwrap();
        let refused = archive.store(&old, &profile).unwrap_err();
        assert!(format!("{refused:#}").contains("cannot make"), "{refused:#}");
        archive.remove_old();
        let hour = theirs.join(old.hour().file_name().unwrap());
        assert_eq!(windows_in(&hour).count(), 1);
        assert_eq!(archive.bytes(), 0);
    }
}
