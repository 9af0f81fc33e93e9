//! Why a place is not written to.

use std::{
    io,
    path::{Path, PathBuf},
};

use thiserror::Error;

/// Why a place is not written to.
#[derive(Debug, Error)]
pub enum WriteError {
    /// A directory on the way to it belongs to another user.
    #[error(
        "{path} belongs to user {owner}, who can put another directory in its place; name a place below directories \
         of your own or of root"
    )]
    Foreign {
        /// The directory.
        path: PathBuf,
        /// Its user.
        owner: u32,
    },
    /// Other users may exchange what is in a directory on the way to it.
    #[error(
        "others may write to {path}, and can put another directory in the place of one below it; name a place \
         below directories that only you or root can change"
    )]
    Writable {
        /// The directory.
        path: PathBuf,
    },
    /// Another user leads the way elsewhere.
    #[error(
        "{path} is a symbolic link of user {owner}, and is not followed; name the place that it leads to"
    )]
    ForeignLink {
        /// The link.
        path: PathBuf,
        /// Its user.
        owner: u32,
    },
    /// The system refuses, or the name is taken by what is no regular file.
    #[error("cannot {action} {path}")]
    Io {
        /// `write`, `make the directory`.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl WriteError {
    /// Whether another place would do.
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

    /// The same error, as that of a file whose directory cannot be reached.
    pub(crate) fn of_file(self, path: &Path) -> Self {
        match self {
            Self::Io { source, .. } => Self::write(path, source),
            refused => refused,
        }
    }

    /// The kind of the error, as the standard library sorts them.
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
