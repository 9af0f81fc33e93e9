//! The proof that a directory is ours: a marker file in it. A lock on the directory shows that a process writes to
//! it.

use std::{fs::File, io::Write, path::Path, sync::Arc};

use anyhow::Context;
use rabbitscope_files::{AtomicFile, Directory, LockError};
use rabbitscope_terminal::{UsageError, output};

/// The file that marks a directory of windows.
const MARKER: &str = "rabbitscope-windows";

/// Contents of the marker; the number increases when the layout changes.
const MARK: &str = "windows of rabbitscope watch, format-version 1\n";

/// Returns whether `directory` holds windows.
pub fn is_archive(directory: &Path) -> bool {
    directory.join(MARKER).is_file()
}

/// A marked directory, locked during this value's lifetime.
#[derive(Debug)]
pub(super) struct Ownership {
    pub(super) directory: Arc<Directory>,
    _locked: File,
    /// NFS forwards the lock of a file, but not that of a directory.
    _marker: File,
}

impl Ownership {
    /// Marks an empty directory, created if it is missing, or takes a marked one. Any other directory is refused, and
    /// so is one to which another process writes.
    pub(super) fn take(path: &Path) -> anyhow::Result<Self> {
        let directory = Arc::new(Directory::make(path)?);
        require_own(&directory)?;
        // Locked before the look: two processes that start at the same time would both find it empty.
        let locked = lock(&directory)?;
        if !directory.has_file(MARKER.as_ref()) {
            mark(&directory)?;
        }
        // Opened for writing, because NFS locks nothing otherwise. Nothing is written.
        let marker = directory.open_or_create(MARKER.as_ref());
        let marker = marker.with_context(|| format!("cannot open {}/{MARKER}", path.display()))?;
        take_lock(&marker, path)?;
        output::note_of_lock(&marker, path);
        require_format(&directory)?;
        Ok(Self { directory, _locked: locked, _marker: marker })
    }
}

fn require_own(directory: &Directory) -> anyhow::Result<()> {
    let place = directory.path().display();
    if !directory.is_of_others().with_context(|| format!("cannot look at {place}"))? {
        return Ok(());
    }
    let message = format!(
        "{place} belongs to another user or is writable by others, who could read and replace windows; choose a new \
         directory, or one that only you can write to"
    );
    Err(UsageError(message).into())
}

fn mark(directory: &Arc<Directory>) -> anyhow::Result<()> {
    let place = directory.path().display();
    if !directory.names().with_context(|| format!("cannot list {place}"))?.is_empty() {
        let message = format!(
            "{place} contains other files: choose an empty directory, or one of an earlier watch"
        );
        return Err(UsageError(message).into());
    }
    let mut marker = AtomicFile::in_directory(Arc::clone(directory), MARKER.as_ref())?;
    let written = marker.writer().write_all(MARK.as_bytes());
    written.with_context(|| format!("cannot write {place}/{MARKER}"))?;
    Ok(marker.commit()?)
}

fn lock(directory: &Directory) -> anyhow::Result<File> {
    let place = directory.path();
    let file = directory.opened().with_context(|| format!("cannot open {}", place.display()))?;
    take_lock(&file, place)?;
    Ok(file)
}

fn take_lock(file: &File, place: &Path) -> anyhow::Result<()> {
    let place = place.display();
    match rabbitscope_files::lock(file) {
        Ok(()) => Ok(()),
        Err(LockError::Taken) => {
            let message =
                format!("another watch writes to {place}: stop it, or choose another directory");
            Err(UsageError(message).into())
        }
        Err(LockError::Io(error)) => Err(error).with_context(|| format!("cannot lock {place}")),
    }
}

fn require_format(directory: &Directory) -> anyhow::Result<()> {
    const MAX_MARK_BYTES: u64 = 200;
    let mark = directory.read(MARKER.as_ref(), MAX_MARK_BYTES).unwrap_or_default();
    if mark == MARK.as_bytes() {
        return Ok(());
    }
    let message = format!(
        "{} belongs to another version of rabbitscope: choose another directory",
        directory.path().display()
    );
    Err(UsageError(message).into())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{MARKER, Ownership, is_archive};

    #[test]
    fn of_several_at_once_one_takes_an_empty_directory() {
        let directory = tempfile::tempdir().unwrap();
        let taken: Vec<_> = std::thread::scope(|scope| {
            let all = [(); 8].map(|()| scope.spawn(|| Ownership::take(directory.path())));
            all.into_iter().map(|taker| taker.join().unwrap()).collect()
        });
        assert_eq!(taken.iter().filter(|taker| taker.is_ok()).count(), 1);
    }

    /// On a file system that forwards no locks of directories, a watch on another machine has only this lock.
    #[test]
    fn the_lock_of_the_marker_counts_as_well() {
        let directory = tempfile::tempdir().unwrap();
        drop(Ownership::take(directory.path()).unwrap());
        let marker = fs::OpenOptions::new().write(true).open(directory.path().join(MARKER));
        let marker = marker.unwrap();
        rabbitscope_files::lock(&marker).unwrap();
        let refused = Ownership::take(directory.path()).unwrap_err().to_string();
        assert!(refused.contains("another watch"), "{refused}");
        drop(marker);
        drop(Ownership::take(directory.path()).unwrap());
    }

    #[test]
    fn one_writer_and_no_directory_of_others() {
        let directory = tempfile::tempdir().unwrap();
        let ours = directory.path().join("new/windows");
        let owned = Ownership::take(&ours).unwrap();
        assert!(is_archive(&ours));
        let second = Ownership::take(&ours).unwrap_err().to_string();
        assert!(second.contains("another watch"), "{second}");
        drop(owned);
        drop(Ownership::take(&ours).unwrap());
        fs::write(ours.join(MARKER), "format-version 2").unwrap();
        let later = Ownership::take(&ours).unwrap_err().to_string();
        assert!(later.contains("another version"), "{later}");
        fs::write(directory.path().join("theirs"), "").unwrap();
        let other = Ownership::take(directory.path()).unwrap_err().to_string();
        assert!(other.contains("contains other files"), "{other}");
    }
}
