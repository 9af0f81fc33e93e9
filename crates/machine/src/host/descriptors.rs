//! Open files of a process, and their limit.

use std::fs;

use crate::text::{read, value};

/// Returns the number of open descriptors. Before Linux 6.2 it needs the right to list them.
pub(super) fn open_descriptors(pid: u32) -> Option<u64> {
    let directory = format!("/proc/{pid}/fd");
    // Since Linux 6.2 the size of the directory is the number of descriptors (`proc_pid_fd(5)`).
    let size = fs::metadata(&directory).ok()?.len();
    if size > 0 {
        return Some(size);
    }
    // A process that may trace another may list its `fdinfo`, but only the owner its `fd`.
    let entries = fs::read_dir(&directory).or_else(|_| fs::read_dir(format!("/proc/{pid}/fdinfo")));
    entries.ok().map(|entries| entries.count() as u64)
}

/// Returns the soft limit of open descriptors. Absent without a limit.
pub(super) fn descriptor_limit(pid: u32) -> Option<u64> {
    soft_limit(&read(format!("/proc/{pid}/limits")).ok()?)
}

fn soft_limit(text: &str) -> Option<u64> {
    value(text, "Max open files")?.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: &str = "\
Limit                     Soft Limit           Hard Limit           Units     
Max processes             96365                96365                processes 
Max open files            1024                 524288               files     
Max locked memory         8388608              8388608              bytes     ";

    #[test]
    fn the_soft_limit() {
        assert_eq!(soft_limit(LIMITS), Some(1024));
        assert_eq!(soft_limit(&LIMITS.replace("1024 ", "unlimited ")), None);
    }

    #[test]
    fn own_descriptors() {
        let before = open_descriptors(std::process::id()).unwrap();
        let files: Vec<_> = (0..50).map(|_| fs::File::open("/proc/self/limits").unwrap()).collect();
        // Other tests open and close files meanwhile.
        assert!(open_descriptors(std::process::id()).unwrap() > before + 20, "{before}");
        drop(files);
    }
}
