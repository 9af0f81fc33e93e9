//! Mounts in the mount namespace of this process.

use std::{os::unix::ffi::OsStrExt, path::Path};

/// Returns a mount point below `directory`. The tree itself does not show mounts: a directory that is mounted a second
/// time looks the same in every respect.
pub fn mounted_below(directory: &Path) -> Option<String> {
    let real = directory.canonicalize().ok()?;
    // As bytes: a mount point may have any name, and each one counts.
    let mounts = std::fs::read("/proc/self/mountinfo").ok()?;
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
    use super::escaped;

    #[test]
    fn a_path_as_the_kernel_writes_it() {
        assert_eq!(escaped(b"/a b\\c\td"), br"/a\040b\134c\011d");
    }
}
