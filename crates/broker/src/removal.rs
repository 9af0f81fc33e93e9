//! Removes a broker's directory, and nothing behind a link or a mount.

use std::{fs, io, os::unix::fs::MetadataExt, path::Path};

use rabbitscope_machine::mounted_below;

use crate::BrokerError;

/// Removes the directory of a broker. A directory that does not exist is no error.
///
/// Links in it are removed, not followed. If anything is mounted below it, everything stays, because the mounted files
/// belong to others.
pub(crate) fn remove(directory: &Path) -> Result<(), BrokerError> {
    let metadata = match fs::symlink_metadata(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        metadata => metadata.map_err(BrokerError::io("look at", directory))?,
    };
    if !is_own_directory(&metadata) {
        return Err(BrokerError::NotPrivate { path: directory.to_owned() });
    }
    if let Some(place) = mounted_below(directory) {
        let path = directory.to_owned();
        return Err(BrokerError::Mounted { path, place });
    }
    match fs::remove_dir_all(directory) {
        // The guard was faster.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(BrokerError::io("remove", directory)),
    }
}

/// Returns whether this is a directory of this user, and not a link to one.
pub(crate) fn is_own_directory(metadata: &fs::Metadata) -> bool {
    metadata.is_dir() && metadata.uid() == rustix::process::geteuid().as_raw()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_are_removed_and_not_followed() {
        let place = tempfile::tempdir().unwrap();
        let (own, others) = (place.path().join("own"), place.path().join("others"));
        fs::create_dir(&own).unwrap();
        fs::create_dir(&others).unwrap();
        fs::write(others.join("precious"), "").unwrap();
        symlink(&others, own.join("link")).unwrap();
        let linked = place.path().join("linked");
        symlink(&others, &linked).unwrap();

        remove(&own).unwrap();
        assert!(!own.exists());
        let refused = remove(&linked).unwrap_err();
        assert!(matches!(refused, BrokerError::NotPrivate { .. }), "{refused}");
        assert!(others.join("precious").exists());
        remove(&own).unwrap();
    }
}
