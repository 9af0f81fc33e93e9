//! The identities of files with secrets and authorities that exporters have read. They show later whether a file has
//! changed.

use std::{fs, os::unix::fs::MetadataExt, path::Path};

use rabbitscope_export::{Credentials, ExporterOptions, ServerTrust};

use super::config::WatchOptions;

/// The files in order, as they were found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ExporterFiles(Vec<Option<Found>>);

/// Attributes that change when a file is replaced or written.
#[derive(Debug, PartialEq, Eq)]
struct Found {
    device: u64,
    inode: u64,
    changed: (i64, i64),
}

impl ExporterFiles {
    /// Records the current state of the files, without reading them.
    pub(super) fn from_options(options: &WatchOptions) -> Self {
        let scraped = options.listen.iter().filter_map(|listen| listen.auth_file.as_deref());
        let files = options.exporters.iter().flat_map(files_of).chain(scraped);
        Self(files.map(found).collect())
    }
}

fn files_of(options: &ExporterOptions) -> impl Iterator<Item = &Path> {
    let secret = match &options.credentials {
        Credentials::Password { file, .. } | Credentials::Token { file } => Some(file.as_path()),
        Credentials::Nobody => None,
    };
    let authorities = match &options.trust {
        ServerTrust::Authorities(file) => Some(file.as_path()),
        ServerTrust::System | ServerTrust::Anybody => None,
    };
    secret.into_iter().chain(authorities)
}

/// Follows links, as a reader of the file does. Kubernetes updates a mount by replacing a link.
fn found(file: &Path) -> Option<Found> {
    let found = fs::metadata(file).ok()?;
    let changed = (found.ctime(), found.ctime_nsec());
    Some(Found { device: found.dev(), inode: found.ino(), changed })
}
