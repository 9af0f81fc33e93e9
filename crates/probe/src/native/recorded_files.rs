//! Files of code named in a recording, if they are still the recorded ones.
//!
//! The build id decides if both have one. The search looks at the recorded path, then in perf's cache of recorded
//! files, because the file may have been rebuilt, moved or removed since. The linker makes the id from code and
//! data: two builds whose functions differ only in their names have the same id. A file at the path that was
//! written after the recording is therefore refused.
//!
//! Without a build id the file must be the same inode and not written since, or untouched since the recording.

use std::{
    collections::{BTreeSet, HashMap},
    fs::{File, Metadata},
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use rabbitscope_profiles::RecordedFile;

use super::{
    debug_file::{build_id_of, hexadecimal},
    limits::MAX_CODE_BYTES,
};

/// Limit of files of code open at the same time: far below the usual limit of a process (1,024), and more than a
/// recording of a node names.
const MAX_FILES: usize = 256;

/// Limit of reported changed files.
const MAX_CHANGED: usize = 20;

/// Files of a recording.
pub(super) struct CodeFiles {
    recorded: Option<SystemTime>,
    cache: Option<PathBuf>,
    files: HashMap<RecordedFile, Option<File>>,
    changed: BTreeSet<String>,
}

impl CodeFiles {
    /// Files of a recording that was last written at this time.
    pub(super) fn new(recorded: Option<SystemTime>) -> Self {
        Self { recorded, cache: cache(), files: HashMap::new(), changed: BTreeSet::new() }
    }

    /// The recorded file, opened.
    pub(super) fn get(&mut self, recorded: &RecordedFile) -> Option<&File> {
        if !self.files.contains_key(recorded) {
            let found = (self.files.len() < MAX_FILES).then(|| self.find(recorded)).flatten();
            let is_file = recorded.path.starts_with('/');
            if found.is_none() && is_file && self.changed.len() < MAX_CHANGED {
                self.changed.insert(recorded.path.to_string());
            }
            self.files.insert(recorded.clone(), found);
        }
        self.files.get(recorded)?.as_ref()
    }

    /// Paths of changed files.
    pub(super) fn changed(&self) -> Vec<String> {
        self.changed.iter().cloned().collect()
    }

    fn find(&self, recorded: &RecordedFile) -> Option<File> {
        let at_path = open(Path::new(&*recorded.path)).ok();
        let Some(id) = recorded.build_id.as_deref().filter(|id| id.iter().any(|&byte| byte != 0))
        else {
            return at_path.filter(|file| self.is_unchanged(file, recorded.inode));
        };
        let is_same = |file: &File| build_id_of(file).is_some_and(|found| is_id(&found, id));
        let is_old =
            |file: &File| !file.metadata().is_ok_and(|metadata| self.is_written(&metadata));
        at_path.filter(|file| is_same(file) && is_old(file)).or_else(|| {
            let file = open(&in_cache(self.cache.as_ref()?, id)).ok()?;
            Some(file).filter(is_same)
        })
    }

    /// Returns whether the file was written after the recording.
    fn is_written(&self, metadata: &Metadata) -> bool {
        let written = metadata.modified().ok().zip(self.recorded);
        written.is_some_and(|(written, recorded)| written > recorded)
    }

    fn is_unchanged(&self, file: &File, inode: Option<(u32, u32, u64)>) -> bool {
        let Ok(metadata) = file.metadata() else { return false };
        let is_same = inode.is_some_and(|inode| inode == identity(&metadata));
        let Some(recorded) = self.recorded else { return is_same };
        let is_written = self.is_written(&metadata);
        let is_touched = changed(&metadata).is_some_and(|time| time > recorded);
        !is_written && (is_same || !is_touched)
    }
}

fn open(path: &Path) -> io::Result<File> {
    rabbitscope_files::open(path, MAX_CODE_BYTES)
}

/// Returns whether the ids are equal. A recording may append zeros to an id.
fn is_id(found: &[u8], stated: &[u8]) -> bool {
    let (start, rest) = stated.split_at(found.len().min(stated.len()));
    found.len() >= start.len() && found == start && rest.iter().all(|&byte| byte == 0)
}

/// Device numbers and inode, as in a mapping.
fn identity(metadata: &Metadata) -> (u32, u32, u64) {
    let device = metadata.dev();
    (rustix::fs::major(device), rustix::fs::minor(device), metadata.ino())
}

/// The time of the last change of contents, name or owner.
fn changed(metadata: &Metadata) -> Option<SystemTime> {
    let seconds = u64::try_from(metadata.ctime()).ok()?;
    let nanos = u32::try_from(metadata.ctime_nsec()).ok()?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::new(seconds, nanos))
}

/// The directory of perf's copies: `perf record` puts recorded files there, by build id (`man perf-buildid-cache`).
fn cache() -> Option<PathBuf> {
    std::env::var_os("HOME")
        .filter(|home| !home.is_empty())
        .map(|home| Path::new(&home).join(".debug"))
}

fn in_cache(cache: &Path, id: &[u8]) -> PathBuf {
    let digits = hexadecimal(id);
    let (first, rest) = digits.split_at(digits.len().min(2));
    cache.join(".build-id").join(first).join(rest).join("elf")
}

#[cfg(test)]
mod tests {
    use std::{fs, process::Command};

    use super::*;

    #[test]
    fn an_id_may_have_zeros_behind_it() {
        assert!(is_id(&[1, 2], &[1, 2, 0, 0]) && is_id(&[1, 2], &[1, 2]));
        assert!(!is_id(&[1, 2], &[1, 2, 3]) && !is_id(&[1, 2], &[1]) && !is_id(&[], &[1]));
    }

    /// Builds a program, with or without a build id.
    fn built(path: &Path, source: &str, with_id: bool) {
        let text = path.with_extension("c");
        fs::write(&text, source).unwrap();
        let id = if with_id { "-Wl,--build-id" } else { "-Wl,--build-id=none" };
        let compiler = Command::new("cc").args(["-O1", id, "-o"]).arg(path).arg(&text).status();
        assert!(compiler.unwrap().success());
    }

    fn recorded(path: &Path, build_id: Option<Vec<u8>>) -> RecordedFile {
        RecordedFile {
            path: path.to_str().unwrap().into(),
            build_id: build_id.map(Into::into),
            inode: Some(identity(&fs::metadata(path).unwrap())),
        }
    }

    #[test]
    fn another_build_is_another_file() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("x");
        built(&path, "int main(void) { return 0; }", true);
        let file = recorded(&path, build_id_of(&File::open(&path).unwrap()));
        let is_found = |file: &RecordedFile| CodeFiles::new(None).get(file).is_some();
        assert!(is_found(&file));
        built(&path, "int main(void) { return 1; }", true);
        assert!(!is_found(&file));
        let mut files = CodeFiles::new(None);
        assert!(files.get(&file).is_none());
        assert_eq!(files.changed(), [path.to_str().unwrap()]);
    }

    /// The code is the same, so that the linker gives the same id.
    #[test]
    fn a_build_with_other_names_is_another_file() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("x");
        built(&path, "int one(void) { return 1; } int main(void) { return one(); }", true);
        let file = recorded(&path, build_id_of(&File::open(&path).unwrap()));
        let now = SystemTime::now();
        assert!(CodeFiles::new(Some(now)).get(&file).is_some());
        std::thread::sleep(Duration::from_millis(20));
        built(&path, "int two(void) { return 1; } int main(void) { return two(); }", true);
        assert!(CodeFiles::new(Some(now)).get(&file).is_none());
    }

    #[test]
    fn without_a_build_id_times_and_inodes_decide() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("x");
        built(&path, "int main(void) { return 0; }", false);
        let file = recorded(&path, None);
        let now = SystemTime::now();
        let is_found = |recorded, file: &RecordedFile| CodeFiles::new(recorded).get(file).is_some();
        assert!(is_found(Some(now), &file) && is_found(None, &file));
        // A recording of another file system, or of a version of perf that states no inode.
        let elsewhere = RecordedFile { inode: None, ..file.clone() };
        assert!(is_found(Some(now), &elsewhere) && !is_found(None, &elsewhere));
        std::thread::sleep(Duration::from_millis(20));
        built(&path, "int main(void) { return 1; }", false);
        assert!(!is_found(Some(now), &file) && !is_found(Some(now), &elsewhere));
    }
}
