//! The owners whose directories and links are trusted on the path to a file: root, and the user of this process.

use std::{env, path::Path};

use rabbitscope_machine::hidden_user;
use rustix::{
    fs::Stat,
    process::{getegid, geteuid},
};

use crate::WriteError;

const ROOT: u32 = 0;
const GROUP_MAY_WRITE: u32 = 0o020;
const ALL_MAY_WRITE: u32 = 0o002;
/// Sticky bit: only their owners can rename and remove entries of the directory.
const STICKY: u32 = 0o1000;

/// Refuses a directory in which another user can exchange entries.
pub(crate) fn require_directory(path: &Path, found: &Stat) -> Result<(), WriteError> {
    let owner = found.st_uid;
    if !(is_ours(owner) || is_caller(owner, "SUDO_UID") || is_hidden(owner)) {
        return Err(WriteError::Foreign { path: path.to_owned(), owner });
    }
    if can_be_written_by_others(found) && found.st_mode & STICKY == 0 {
        return Err(WriteError::Writable { path: path.to_owned() });
    }
    Ok(())
}

/// Refuses to follow another user's link. The user who called sudo also counts as another: a link leads out of held
/// directories.
pub(crate) fn require_link(path: &Path, found: &Stat) -> Result<(), WriteError> {
    let owner = found.st_uid;
    if is_ours(owner) || is_hidden(owner) {
        return Ok(());
    }
    Err(WriteError::ForeignLink { path: path.to_owned(), owner })
}

/// Returns true if users besides the owner and root may create entries.
pub(crate) fn can_be_written_by_others(found: &Stat) -> bool {
    // Most distributions have a group for each user, so the user's own group has no other members.
    let group = found.st_gid;
    let is_own_group = group == ROOT || group == getegid().as_raw() || is_caller(group, "SUDO_GID");
    let by_group = found.st_mode & GROUP_MAY_WRITE != 0 && !is_own_group;
    by_group || found.st_mode & ALL_MAY_WRITE != 0
}

fn is_ours(owner: u32) -> bool {
    owner == ROOT || owner == geteuid().as_raw()
}

/// Returns true if root runs this process through sudo and the id is the caller's, from `variable`. Results then go
/// to the caller's own directories. All below them is held by descriptor, and no link there is followed.
fn is_caller(id: u32, variable: &str) -> bool {
    let caller = || env::var(variable).ok().and_then(|text| text.parse::<u32>().ok());
    geteuid().is_root() && caller() == Some(id)
}

/// Returns true if `owner` stands for all users that are unknown in this user namespace, usually the system's root.
fn is_hidden(owner: u32) -> bool {
    hidden_user() == Some(owner)
}
