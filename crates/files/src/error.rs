//! Errors of writing.

use std::{
    io,
    path::{Path, PathBuf},
};

use thiserror::Error;

/// Reason why a file cannot be written.
#[derive(Debug, Error)]
pub enum WriteError {
    /// A directory on the path belongs to another user.
    #[error(
        "{path} belongs to user {owner}, who can replace it; choose a place below directories of your own or of root"
    )]
    Foreign {
        /// Path of the directory.
        path: PathBuf,
        /// Id of its owner.
        owner: u32,
    },
    /// Other users can exchange entries of a directory on the path.
    #[error(
        "other users can write to {path} and replace directories below it; choose a place below directories that only \
         you or root can change"
    )]
    Writable {
        /// Path of the directory.
        path: PathBuf,
    },
    /// A symbolic link on the path belongs to another user.
    #[error(
        "{path} is a symbolic link of user {owner} and is not followed; give its target instead"
    )]
    ForeignLink {
        /// Path of the link.
        path: PathBuf,
        /// Id of its owner.
        owner: u32,
    },
    /// The system refuses the action, or the name is taken by something other than a regular file.
    #[error("cannot {action} {path}")]
    Io {
        /// The action, such as `write` or `make the directory`.
        action: &'static str,
        /// Path of the file or directory.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
}

impl WriteError {
    /// Returns true if another path would work.
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Foreign { .. } | Self::Writable { .. } | Self::ForeignLink { .. })
    }

    pub(crate) fn write(path: &Path, source: impl Into<io::Error>) -> Self {
        Self::Io { action: "write", path: path.to_owned(), source: source.into() }
    }

    pub(crate) fn directory(path: &Path, source: impl Into<io::Error>) -> Self {
        Self::Io { action: "open the directory", path: path.to_owned(), source: source.into() }
    }

    pub(crate) fn make(path: &Path, source: impl Into<io::Error>) -> Self {
        Self::Io { action: "make the directory", path: path.to_owned(), source: source.into() }
    }

    /// Converts the error of a directory into the error of the file in it.
    pub(crate) fn of_file(self, path: &Path) -> Self {
        match self {
            Self::Io { source, .. } => Self::write(path, source),
            refused => refused,
        }
    }

    /// Returns the kind of the error in the standard library.
    pub fn kind(&self) -> io::ErrorKind {
        match self {
            Self::Io { source, .. } => source.kind(),
            Self::Foreign { .. } | Self::Writable { .. } | Self::ForeignLink { .. } => {
                io::ErrorKind::PermissionDenied
            }
        }
    }
}

impl From<WriteError> for io::Error {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Io { source, .. } => source,
            refused => Self::new(refused.kind(), refused),
        }
    }
}
