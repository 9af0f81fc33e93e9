//! A directory of requests: one file per request, named by a growing number.
//!
//! A file is written under another name and renamed, so `kill -9` leaves only whole requests. It is removed after the
//! backend has accepted it. A `kill -9` between acceptance and removal makes the next start send the request again.

use std::{
    fs::File,
    io::{self, Write},
    path::Path,
};

use rabbitscope_files::{Directory, LockError, WriteError};

use crate::ExportError;

const DIGITS: usize = 20;

/// The directory of one exporter.
#[derive(Debug)]
pub(crate) struct SpoolDirectory(Directory);

/// Creates the directory of all exporters and locks it for as long as the returned file is open.
pub(crate) fn lock_directory(path: &Path) -> Result<File, ExportError> {
    let refused = |reason: String| ExportError::Spool { path: path.to_owned(), reason };
    let directory = Directory::make(path).map_err(|error| match error {
        WriteError::Io { source, .. } => refused(format!("cannot be made: {source}")),
        error => refused(error.to_string()),
    })?;
    let is_of_others = directory.is_of_others();
    if is_of_others.map_err(|error| refused(format!("cannot be looked at: {error}")))? {
        return Err(refused(
            "belongs to another user or is writable by others: use a directory of your own".into(),
        ));
    }
    let file = directory.open_or_create("lock".as_ref());
    let file = file.map_err(|error| refused(format!("cannot be written to: {error}")))?;
    rabbitscope_files::lock(&file).map_err(|error| match error {
        LockError::Taken => {
            refused("another rabbitscope uses it: give each its own directory".into())
        }
        LockError::Io(error) => refused(format!("cannot be locked: {error}")),
    })?;
    Ok(file)
}

impl SpoolDirectory {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let (parent, name) = Directory::of_file(path)?;
        match parent.make_below(name).map_err(io::Error::from) {
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                let reason = "it is a symbolic link, and links are not followed: remove it";
                Err(io::Error::new(io::ErrorKind::NotADirectory, reason))
            }
            opened => opened.map(Self),
        }
    }

    /// Returns the numbers and sizes of the requests, in order. Removes files that an earlier process left
    /// half-written; foreign files stay.
    pub(super) fn entries(&self) -> io::Result<Vec<(u64, u64)>> {
        let mut found = Vec::new();
        for name in self.0.names()? {
            let text = name.to_string_lossy();
            if let Some(number) = number_of(&text) {
                found.push((number, self.0.length(&name)?));
            } else if text.strip_prefix('.').and_then(number_of).is_some() {
                self.0.remove_file(&name)?;
            }
        }
        found.sort_unstable();
        Ok(found)
    }

    pub(super) fn write(&self, number: u64, body: &[u8]) -> io::Result<()> {
        let (name, unfinished) = (name_of(number), format!(".{}", name_of(number)));
        let file = self.0.create_new(unfinished.as_ref());
        let written = file.and_then(|mut file| file.write_all(body));
        let written = written.and_then(|()| self.0.rename(unfinished.as_ref(), name.as_ref()));
        written.inspect_err(|_| drop(self.0.remove_file(unfinished.as_ref())))
    }

    pub(super) fn read(&self, number: u64, most: u64) -> io::Result<Vec<u8>> {
        self.0.read(name_of(number).as_ref(), most)
    }

    /// Removes a request. A file that is already gone is no error.
    pub(super) fn remove(&self, number: u64) {
        let _ = self.0.remove_file(name_of(number).as_ref());
    }
}

fn name_of(number: u64) -> String {
    format!("{number:0DIGITS$}")
}

fn number_of(name: &str) -> Option<u64> {
    let is_number = name.len() == DIGITS && name.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| name.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

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
        let said = SpoolDirectory::open(&spool.join("a.parca")).unwrap_err().to_string();
        assert!(said.contains("symbolic link"), "{said}");
    }
}
