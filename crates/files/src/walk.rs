//! The walk to a directory, from one directory to the next by descriptor, so that none can be exchanged in between.

use std::{
    collections::VecDeque,
    ffi::{OsStr, OsString},
    io,
    os::{
        fd::{AsFd, OwnedFd},
        unix::ffi::OsStringExt,
    },
    path::{Component, Path, PathBuf},
};

use rustix::{
    fs::{CWD, FileType, Mode, OFlags, Stat, fstat, openat, readlinkat},
    io::Errno,
};

use crate::{WriteError, mode, trust};

/// Limit of links on a path, the same as the kernel's.
const MAX_LINKS: u32 = 40;

const LOOKING: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Treatment of a missing directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    Fail,
    Make,
}

/// Position of a walk.
struct Walk {
    at: OwnedFd,
    /// Path for messages.
    shown: PathBuf,
    to_go: VecDeque<OsString>,
    links: u32,
    missing: Missing,
}

/// Walks to `path`. Every directory on the way must be one that only this user or root can change.
pub(crate) fn walk(path: &Path, missing: Missing) -> Result<OwnedFd, WriteError> {
    let beginning = if path.is_absolute() { "/" } else { "." };
    let (at, found) = look(CWD, beginning.as_ref(), Path::new(beginning))?;
    trust::require_directory(Path::new(beginning), &found)?;
    let to_go = names(path);
    let shown = PathBuf::from(if path.is_absolute() { "/" } else { "" });
    let mut walk = Walk { at, shown, to_go, links: 0, missing };
    while let Some(name) = walk.to_go.pop_front() {
        walk.step(&name)?;
    }
    Ok(walk.at)
}

fn names(path: &Path) -> VecDeque<OsString> {
    let named = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
    });
    named.collect()
}

fn look(at: impl AsFd, name: &OsStr, shown: &Path) -> Result<(OwnedFd, Stat), WriteError> {
    let seen = openat(at, name, LOOKING, Mode::empty())
        .map_err(|error| WriteError::directory(shown, error))?;
    let found = fstat(&seen).map_err(|error| WriteError::directory(shown, error))?;
    Ok((seen, found))
}

impl Walk {
    fn step(&mut self, name: &OsStr) -> Result<(), WriteError> {
        let shown = self.shown.join(name);
        let (seen, found) = match look(&self.at, name, &shown) {
            Err(error)
                if error.kind() == io::ErrorKind::NotFound && self.missing == Missing::Make =>
            {
                self.make(name, &shown)?;
                look(&self.at, name, &shown)?
            }
            looked => looked?,
        };
        match FileType::from_raw_mode(found.st_mode) {
            FileType::Directory => {
                trust::require_directory(&shown, &found)?;
                (self.at, self.shown) = (seen, shown);
                Ok(())
            }
            FileType::Symlink => self.follow(&seen, &found, &shown),
            _ => Err(WriteError::directory(&shown, Errno::NOTDIR)),
        }
    }

    fn make(&self, name: &OsStr, shown: &Path) -> Result<(), WriteError> {
        match mode::make_directory(self.at.as_fd(), name) {
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(error) => Err(WriteError::make(shown, error)),
        }
    }

    fn follow(&mut self, link: &OwnedFd, found: &Stat, shown: &Path) -> Result<(), WriteError> {
        trust::require_link(shown, found)?;
        self.links += 1;
        if self.links > MAX_LINKS {
            return Err(WriteError::directory(shown, Errno::LOOP));
        }
        let target = readlinkat(link, "", Vec::new())
            .map_err(|error| WriteError::directory(shown, error))?;
        let target = PathBuf::from(OsString::from_vec(target.into_bytes()));
        if target.is_absolute() {
            let (root, found) = look(CWD, "/".as_ref(), Path::new("/"))?;
            trust::require_directory(Path::new("/"), &found)?;
            (self.at, self.shown) = (root, PathBuf::from("/"));
        }
        for name in names(&target).into_iter().rev() {
            self.to_go.push_front(name);
        }
        Ok(())
    }
}
