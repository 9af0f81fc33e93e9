//! Removes a broker's directory, and nothing behind a link or a mount.

use std::{
    fs, io,
    os::unix::{ffi::OsStrExt, fs::MetadataExt},
    path::Path,
};

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

/// Returns a mount point below `directory`. The tree itself does not show mounts: a directory that is mounted a second
/// time looks the same in every respect.
fn mounted_below(directory: &Path) -> Option<String> {
    let real = directory.canonicalize().ok()?;
    let mounts = fs::read("/proc/self/mountinfo").ok()?;
    let prefix = [&escaped(real.as_os_str().as_bytes())[..], b"/"].concat();
    let points =
        mounts.split(|&byte| byte == b'\n').filter_map(|line| line.split(|b| *b == b' ').nth(4));
    let found = points.into_iter().find(|point| point.starts_with(&prefix))?;
    Some(String::from_utf8_lossy(found).into_owned())
}

/// Escapes a path as the kernel does in `mountinfo` (`proc_pid_mountinfo(5)`).
fn escaped(path: &[u8]) -> Vec<u8> {
    let escape = |&byte: &u8| match byte {
        b' ' | b'\t' | b'\n' | b'\\' => format!("\\{byte:03o}").into_bytes(),
        _ => vec![byte],
    };
    path.iter().flat_map(escape).collect()
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

    #[test]
    fn a_path_as_the_kernel_writes_it() {
        assert_eq!(escaped(b"/a b\\c\td"), br"/a\040b\134c\011d");
    }
}
