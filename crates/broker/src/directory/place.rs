//! The place of a user's throwaway brokers, and the creation of private files.

use std::{
    env, fs,
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use rabbitscope_files::random_digits;

use crate::{BrokerError, removal};

/// Returns the directory that holds the directories of this user's throwaway brokers. Makes it when it is missing, and
/// refuses it when others could have written into it.
pub(crate) fn brokers_directory() -> Result<PathBuf, BrokerError> {
    let user = rustix::process::geteuid().as_raw();
    let temporary = std::path::absolute(env::temp_dir());
    let temporary = temporary.map_err(BrokerError::io("resolve", env::temp_dir()))?;
    let own = temporary.join(format!("rabbitscope-{user}"));
    let brokers = own.join("brokers");
    for directory in [&own, &brokers] {
        match make_private(directory) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                require_private(directory)?;
            }
            made => made.map_err(BrokerError::io("make", directory))?,
        }
    }
    Ok(brokers)
}

pub(super) fn make_private(directory: &Path) -> io::Result<()> {
    fs::DirBuilder::new().mode(0o700).create(directory)
}

fn require_private(directory: &Path) -> Result<(), BrokerError> {
    let metadata =
        fs::symlink_metadata(directory).map_err(BrokerError::io("look at", directory))?;
    let is_closed = metadata.permissions().mode().trailing_zeros() >= 6;
    if removal::is_own_directory(&metadata) && is_closed {
        return Ok(());
    }
    Err(BrokerError::NotPrivate { path: directory.to_owned() })
}

/// Writes a file that must not exist yet.
pub(crate) fn write_private(path: &Path, text: &str) -> Result<(), BrokerError> {
    fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(BrokerError::io("write", path))
}

/// Returns 128 random bits as hexadecimal digits.
pub(crate) fn random_hex() -> Result<String, BrokerError> {
    random_digits().map_err(BrokerError::io("read", "/dev/urandom"))
}
