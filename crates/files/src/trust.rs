//! Whose directories and links are trusted on the way to a file: those of root, and of the user that this process runs as.

use std::{env, fs, path::Path, sync::OnceLock};

use rustix::{
    fs::Stat,
    process::{getegid, geteuid},
};

use crate::WriteError;

const ROOT: u32 = 0;
const GROUP_MAY_WRITE: u32 = 0o020;
const ALL_MAY_WRITE: u32 = 0o002;
/// Entries of such a directory are renamed and removed by their owners alone.
const STICKY: u32 = 0o1000;

/// Refuses a directory in which another user can exchange entries.
pub(crate) fn require_directory(path: &Path, found: &Stat) -> Result<(), WriteError> {
    let owner = found.st_uid;
    if !(is_ours(owner) || is_of_caller(owner) || is_hidden(owner)) {
        return Err(WriteError::Foreign { path: path.to_owned(), owner });
    }
    if can_be_written_by_others(found) && found.st_mode & STICKY == 0 {
        return Err(WriteError::Writable { path: path.to_owned() });
    }
    Ok(())
}

/// Refuses to follow a link of another user. The user who called sudo is another user here: a link leads out of what is held.
pub(crate) fn require_link(path: &Path, found: &Stat) -> Result<(), WriteError> {
    let owner = found.st_uid;
    if is_ours(owner) || is_hidden(owner) {
        return Ok(());
    }
    Err(WriteError::ForeignLink { path: path.to_owned(), owner })
}

/// Whether users besides the owner and root may make entries.
pub(crate) fn can_be_written_by_others(found: &Stat) -> bool {
    // With a group for each user, as most distributions have it, the own group is nobody else.
    let is_other_group = found.st_gid != ROOT && found.st_gid != getegid().as_raw();
    let by_group = found.st_mode & GROUP_MAY_WRITE != 0 && is_other_group;
    by_group || found.st_mode & ALL_MAY_WRITE != 0
}

fn is_ours(owner: u32) -> bool {
    owner == ROOT || owner == geteuid().as_raw()
}

/// Whether `owner` called sudo, which says so to root. Results go to the caller's own directories then; all below them is
/// held by descriptor, and no link there is followed.
fn is_of_caller(owner: u32) -> bool {
    let caller = || env::var("SUDO_UID").ok().and_then(|uid| uid.parse::<u32>().ok());
    geteuid().is_root() && caller() == Some(owner)
}

/// Whether `owner` is the user that stands for all users whom this user namespace does not know: the system's root, as a
/// rule.
fn is_hidden(owner: u32) -> bool {
    static HIDDEN: OnceLock<Option<u32>> = OnceLock::new();
    *HIDDEN.get_or_init(hidden) == Some(owner)
}

fn hidden() -> Option<u32> {
    const ALL_USERS: u32 = u32::MAX;
    let known = fs::read_to_string("/proc/self/uid_map").ok()?;
    let is_whole = known.split_whitespace().nth(2)?.parse() == Ok(ALL_USERS);
    let overflow = fs::read_to_string("/proc/sys/kernel/overflowuid").ok()?;
    if is_whole { None } else { overflow.trim().parse().ok() }
}
