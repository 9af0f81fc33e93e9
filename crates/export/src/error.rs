//! Errors that prevent the start of exporting.

use std::{io, path::PathBuf};

/// Error that prevents the start of exporting.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// A file with a password, token or certificates is unusable.
    #[error("exporter {exporter}: {}: {reason}", path.display())]
    File {
        /// Name of the exporter.
        exporter: String,
        /// Path of the file.
        path: PathBuf,
        /// Error and remedy.
        reason: String,
    },
    /// The system has no trust store, or it is empty.
    #[error(
        "exporter {exporter}: this system has no trusted authorities; give a PEM file with `ca`"
    )]
    NoAuthorities {
        /// Name of the exporter.
        exporter: String,
    },
    /// The directory of the spool is unusable.
    #[error("the spool {}: {reason}", path.display())]
    Spool {
        /// Path of the directory.
        path: PathBuf,
        /// Error and remedy.
        reason: String,
    },
    /// A thread cannot be started.
    #[error("a thread cannot be started: {0}")]
    Thread(#[source] io::Error),
}
