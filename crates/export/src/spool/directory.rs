//! A directory of requests: a file for each, its name a number that grows.
//!
//! A file is written under another name and renamed, so that `kill -9` leaves whole requests only. It is removed after
//! the backend has accepted it: between the two, `kill -9` makes the next start send it once more.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use rabbitscope_files::{LockError, SymbolicLinks};
use rustix::fs::OFlags;

use crate::ExportError;

const DIGITS: usize = 20;

/// A link is no file of ours: what it leads to is neither made nor opened.
const NO_LINK: i32 = OFlags::NOFOLLOW.bits().cast_signed();

/// Of one exporter.
#[derive(Debug)]
pub(crate) struct SpoolDirectory {
    path: PathBuf,
}

/// Makes the directory of all exporters. It is ours as long as the file that is returned is open.
pub(crate) fn lock_directory(path: &Path) -> Result<File, ExportError> {
    let refused = |reason: String| ExportError::Spool { path: path.to_owned(), reason };
    make(path).map_err(|error| refused(format!("cannot be made: {error}")))?;
    let lock = path.join("lock");
    let mut options = OpenOptions::new();
    options.create(true).append(true).mode(0o600).custom_flags(NO_LINK);
    let file = options.open(lock);
    let file = file.map_err(|error| refused(format!("cannot be written to: {error}")))?;
    rabbitscope_files::lock(&file).map_err(|error| match error {
        LockError::Taken => {
            refused("another rabbitscope uses it: give each a directory of its own".into())
        }
        LockError::Io(error) => refused(format!("cannot be locked: {error}")),
    })?;
    Ok(file)
}

fn make(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

impl SpoolDirectory {
    pub(crate) fn open(path: PathBuf) -> io::Result<Self> {
        make(&path)?;
        if !fs::symlink_metadata(&path)?.is_dir() {
            let reason = "it is a symbolic link, and links are not followed: remove it";
            return Err(io::Error::new(io::ErrorKind::NotADirectory, reason));
        }
        Ok(Self { path })
    }

    /// Numbers and sizes of the files that are there, in order. What was being written when somebody ended us is
    /// removed; what is not ours is left alone.
    pub(super) fn entries(&self) -> io::Result<Vec<(u64, u64)>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if let Some(number) = number_of(&name) {
                found.push((number, entry.metadata()?.len()));
            } else if name.strip_prefix('.').and_then(number_of).is_some() {
                fs::remove_file(entry.path())?;
            }
        }
        found.sort_unstable();
        Ok(found)
    }

    pub(super) fn write(&self, number: u64, body: &[u8]) -> io::Result<()> {
        let unfinished = self.path.join(format!(".{number:0DIGITS$}"));
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unfinished);
        let written = file.and_then(|mut file| file.write_all(body));
        let written = written.and_then(|()| fs::rename(&unfinished, self.file(number)));
        if written.is_err() {
            let _ = fs::remove_file(&unfinished);
        }
        written
    }

    pub(super) fn read(&self, number: u64, most: u64) -> io::Result<Vec<u8>> {
        let file = rabbitscope_files::open_with(&self.file(number), most, SymbolicLinks::Refuse)?;
        rabbitscope_files::read_all(file, most)
    }

    /// Whoever has removed it already has done the same.
    pub(super) fn remove(&self, number: u64) {
        let _ = fs::remove_file(self.file(number));
    }

    fn file(&self, number: u64) -> PathBuf {
        self.path.join(format!("{number:0DIGITS$}"))
    }
}

fn number_of(name: &str) -> Option<u64> {
    let is_number = name.len() == DIGITS && name.bytes().all(|it| it.is_ascii_digit());
    is_number.then(|| name.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn planted_links_lead_nowhere() {
        let place = tempfile::tempdir().unwrap();
        let (spool, theirs) = (place.path().join("spool"), place.path().join("theirs"));
        fs::create_dir_all(&spool).unwrap();
        symlink(&theirs, spool.join("lock")).unwrap();
        assert!(lock_directory(&spool).is_err());
        assert!(!theirs.exists(), "nothing is made where a link leads");
        fs::create_dir(&theirs).unwrap();
        symlink(&theirs, spool.join("a.parca")).unwrap();
        let said = SpoolDirectory::open(spool.join("a.parca")).unwrap_err().to_string();
        assert!(said.contains("symbolic link"), "{said}");
    }
}
