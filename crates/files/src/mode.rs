//! Permissions of the program's files: only for its user by default.

use std::{
    ffi::OsStr,
    fs::File,
    os::fd::BorrowedFd,
    str::FromStr,
    sync::atomic::{AtomicU32, Ordering},
};

use rustix::fs::{Mode, OFlags, fchmod, fstat, mkdirat, openat};
use thiserror::Error;

/// Default permissions. Results contain names of queues, arguments and addresses, which are private.
const PRIVATE: u32 = 0o600;

/// Value of [`ASKED`] without a setting of the user.
const UNSET: u32 = 0;

static ASKED: AtomicU32 = AtomicU32::new(UNSET);

/// Permissions that the user sets for the program's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileMode(u32);

/// Error for permissions that are not allowed.
#[derive(Debug, Error)]
#[error("allowed are 0600, 0640 (group can read) and 0644 (all users can read)")]
pub struct FileModeError;

impl FileMode {
    /// Sets the permissions of all files that this process writes from now on.
    pub fn apply(self) {
        ASKED.store(self.0, Ordering::Relaxed);
    }
}

impl FromStr for FileMode {
    type Err = FileModeError;

    fn from_str(text: &str) -> Result<Self, FileModeError> {
        match text {
            "0600" | "600" => Ok(Self(0o600)),
            "0640" | "640" => Ok(Self(0o640)),
            "0644" | "644" => Ok(Self(0o644)),
            _ => Err(FileModeError),
        }
    }
}

fn asked() -> Option<u32> {
    Some(ASKED.load(Ordering::Relaxed)).filter(|mode| *mode != UNSET)
}

/// Returns the permissions for creating a file.
pub(crate) const fn of_new_file() -> Mode {
    Mode::from_raw_mode(PRIVATE)
}

/// Returns the permissions for creating a directory. Users who may read its files may list and enter it.
fn of_directory() -> Mode {
    let files = asked().unwrap_or(PRIVATE);
    Mode::from_raw_mode(0o700 | files | (files & 0o044) >> 2)
}

/// Creates a directory with the program's permissions, regardless of the umask.
pub(crate) fn make_directory(parent: BorrowedFd<'_>, name: &OsStr) -> rustix::io::Result<()> {
    let mode = of_directory();
    let opening = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    mkdirat(parent, name, mode)?;
    if let Ok(made) = openat(parent, name, opening, Mode::empty()) {
        fchmod(&made, mode)?;
    }
    Ok(())
}

/// Gives a finished file its permissions: those of the user's setting, or those of the file that it replaces.
pub(crate) fn give(file: &File, replaced: Option<u32>) -> rustix::io::Result<()> {
    const READ_AND_WRITE: u32 = 0o666;
    let wanted = asked().or(replaced).unwrap_or(PRIVATE) & READ_AND_WRITE;
    if fstat(file)?.st_mode & 0o7777 == wanted {
        return Ok(());
    }
    fchmod(file, Mode::from_raw_mode(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_modes_without_rights_to_change() {
        fn check(text: &str, expected: Option<u32>) {
            assert_eq!(text.parse::<FileMode>().ok().map(|mode| mode.0), expected, "{text}");
        }
        check("0600", Some(0o600));
        check("640", Some(0o640));
        check("0644", Some(0o644));
        for wrong in ["0666", "0777", "4644", "0", "", "rw-r--r--", "0o644"] {
            check(wrong, None);
        }
    }
}
