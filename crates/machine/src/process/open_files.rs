//! Paths of a process's open files.

use std::{fs, io};

/// Returns the paths of open files as the process sees them, except of files that have no name or were deleted. Only
/// the owner and root may list them.
pub fn open_files(pid: u32) -> io::Result<impl Iterator<Item = String>> {
    let entries = fs::read_dir(format!("/proc/{pid}/fd"))?.flatten();
    let links = entries
        .filter_map(|entry| fs::read_link(entry.path()).ok()?.into_os_string().into_string().ok());
    Ok(links.filter(|path| path.starts_with('/') && !path.ends_with(" (deleted)")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_file() {
        let file = fs::File::open("/etc/hostname").unwrap();
        let found: Vec<String> = open_files(std::process::id()).unwrap().collect();
        assert!(found.iter().any(|path| path == "/etc/hostname"), "{found:?}");
        drop(file);
        assert!(open_files(u32::MAX).is_err());
    }
}
