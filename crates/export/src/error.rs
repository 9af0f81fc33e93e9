//! Why exporting cannot start.

use std::{io, path::PathBuf};

/// Why exporting cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// A file with a password, a token or certificates cannot be used.
    #[error("exporter {exporter}: {}: {reason}", path.display())]
    File {
        /// Name of the exporter.
        exporter: String,
        /// The file.
        path: PathBuf,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// The system has no trust store, or it is empty.
    #[error(
        "exporter {exporter}: this system names no authorities to trust: name a PEM file with `ca`"
    )]
    NoAuthorities {
        /// Name of the exporter.
        exporter: String,
    },
    /// The directory of the spool cannot be used.
    #[error("the spool {}: {reason}", path.display())]
    Spool {
        /// The directory.
        path: PathBuf,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// A thread cannot be started.
    #[error("a thread cannot be started: {0}")]
    Thread(#[source] io::Error),
}
