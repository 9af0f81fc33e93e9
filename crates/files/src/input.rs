//! Files that the user names as input. A file that cannot be opened is wrong usage, in every command.
//!
//! The callers interpret the bytes. The files of a run directory are read in `rundir`.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

/// An input that is missing or cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {}: {source}", path.display())]
pub struct InputError {
    path: PathBuf,
    source: io::Error,
}

/// Opens a regular file of at most `most` bytes.
pub fn open(path: &Path, most: u64) -> Result<File, InputError> {
    crate::open(path, most).map_err(unreadable(path))
}

/// Reads a regular file of at most `most` bytes.
pub fn read(path: &Path, most: u64) -> Result<Vec<u8>, InputError> {
    crate::read(path, most).map_err(unreadable(path))
}

/// Like [`read`], for text in UTF-8.
pub fn read_text(path: &Path, most: u64) -> Result<String, InputError> {
    crate::read_text(path, most).map_err(unreadable(path))
}

fn unreadable(path: &Path) -> impl FnOnce(io::Error) -> InputError {
    move |source| InputError { path: path.to_owned(), source }
}
