//! The address space of a process.

use std::io;

use crate::text::read;

/// A file or memory mapped into a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// First address.
    pub start: u64,
    /// One past the last.
    pub end: u64,
    /// Offset of `start` in the file.
    pub file_offset: u64,
    /// Its path in the process's mount namespace. `[vdso]` and the like keep their brackets; anonymous memory has
    /// none.
    pub path: String,
    /// True if code may run there.
    pub executable: bool,
    /// True if the process may write there.
    pub writable: bool,
}

/// Returns all mappings of a process in order of address (`proc_pid_maps(5)`).
pub fn mappings(pid: u32) -> io::Result<Vec<Mapping>> {
    Ok(read(format!("/proc/{pid}/maps"))?.lines().filter_map(parse).collect())
}

fn parse(line: &str) -> Option<Mapping> {
    let mut fields = line.splitn(6, ' ');
    let (start, end) = fields.next()?.split_once('-')?;
    let permissions = fields.next()?;
    let file_offset = fields.next()?;
    let path = fields.nth(2).unwrap_or("").trim_start();
    Some(Mapping {
        start: u64::from_str_radix(start, 16).ok()?,
        end: u64::from_str_radix(end, 16).ok()?,
        file_offset: u64::from_str_radix(file_offset, 16).ok()?,
        path: path.to_owned(),
        executable: permissions.contains('x'),
        writable: permissions.contains('w'),
    })
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn a_mapping_with_spaces_in_its_path() {
        let line = "7fc293c00000-7fc295c00000 r-xs 00001000 00:01 30      /memfd:vmem (deleted)";
        let mapping = parse(line).unwrap();
        assert_eq!(mapping.start, 0x7fc2_93c0_0000);
        assert_eq!(mapping.file_offset, 0x1000);
        assert_eq!(mapping.path, "/memfd:vmem (deleted)");
        assert!(mapping.executable);
    }

    #[test]
    fn an_anonymous_mapping() {
        let mapping = parse("7f00-7f10 rw-p 00000000 00:00 0 ").unwrap();
        assert_eq!((mapping.path.as_str(), mapping.executable), ("", false));
    }
}
