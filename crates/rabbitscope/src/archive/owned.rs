//! The proof that a directory is ours: a file in it that says so. A lock of the directory says that somebody writes to it.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use anyhow::Context;
use rabbitscope_files::LockError;
use rustix::fs::OFlags;

use crate::{atomic_file, exit::UsageError, output};

/// The file that marks a directory of windows.
const MARKER: &str = "rabbitscope-windows";

/// What is in it; the number is raised when the layout changes.
const MARK: &str = "windows of rabbitscope watch, format-version 1\n";

/// Whether `directory` holds windows.
pub(crate) fn is_archive(directory: &Path) -> bool {
    directory.join(MARKER).is_file()
}

/// A marked directory, locked for as long as this lives.
#[derive(Debug)]
pub(super) struct Ownership {
    _directory: File,
    /// NFS passes on the lock of a file, and not that of a directory.
    _marker: File,
}

impl Ownership {
    /// Marks an empty directory, which is made when it is missing, or takes one that is marked. Anything else is
    /// refused, and a directory to which another process writes.
    pub(super) fn take(directory: &Path) -> anyhow::Result<Self> {
        let place = directory.display();
        fs::create_dir_all(directory).with_context(|| format!("cannot make {place}"))?;
        // Locked before it is looked at: two that start at the same time would both find it empty.
        let locked = lock(directory)?;
        let marker = directory.join(MARKER);
        if !marker.exists() {
            let mut entries =
                fs::read_dir(directory).with_context(|| format!("cannot list {place}"))?;
            if entries.next().is_some() {
                return Err(UsageError(format!(
                    "{place} holds other files: name an empty directory, or one of an earlier watch"
                ))
                .into());
            }
            atomic_file::write(&marker, MARK.as_bytes())?;
        }
        let file =
            open_marker(&marker).with_context(|| format!("cannot open {}", marker.display()))?;
        take_lock(&file, directory)?;
        output::note_of_lock(&file, directory);
        require_format(&file, directory)?;
        Ok(Self { _directory: locked, _marker: file })
    }
}

/// For writing, without which NFS locks nothing. Nothing is written.
fn open_marker(marker: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW.bits().cast_signed();
    OpenOptions::new().read(true).write(true).custom_flags(flags).open(marker)
}

fn lock(directory: &Path) -> anyhow::Result<File> {
    let opened = File::open(directory);
    let file = opened.with_context(|| format!("cannot open {}", directory.display()))?;
    take_lock(&file, directory)?;
    Ok(file)
}

fn take_lock(file: &File, directory: &Path) -> anyhow::Result<()> {
    let place = directory.display();
    match rabbitscope_files::lock(file) {
        Ok(()) => Ok(()),
        Err(LockError::Taken) => {
            let message =
                format!("another watch writes to {place}: end it, or name another directory");
            Err(UsageError(message).into())
        }
        Err(LockError::Io(error)) => Err(error).with_context(|| format!("cannot lock {place}")),
    }
}

fn require_format(marker: &File, directory: &Path) -> anyhow::Result<()> {
    let mut mark = String::new();
    marker.take(200).read_to_string(&mut mark).unwrap_or_default();
    if mark == MARK {
        return Ok(());
    }
    let message = format!(
        "{} is marked by another version of rabbitscope: name another directory",
        directory.display()
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
            all.into_iter().map(|it| it.join().unwrap()).collect()
        });
        assert_eq!(taken.iter().filter(|it| it.is_ok()).count(), 1);
    }

    /// A watch on another machine has this lock alone where the file system passes on no locks of directories.
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
        assert!(other.contains("holds other files"), "{other}");
    }
}
