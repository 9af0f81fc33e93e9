//! The node's process: memory, mappings, threads, pid namespace. Only reads, never stops it.

use std::{
    fs::{self, File},
    io,
    os::unix::fs::FileExt,
    path::PathBuf,
};

use crate::error::ProbeError;

/// Reads bytes at addresses of another address space; the seam at which parsers are tested.
pub(crate) trait ReadMemory {
    /// Fills `buf` from `address` or fails.
    fn read(&self, address: u64, buf: &mut [u8]) -> io::Result<()>;

    /// A little-endian word.
    fn word(&self, address: u64) -> io::Result<u64> {
        let mut bytes = [0; 8];
        self.read(address, &mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }
}

/// A file mapped into the node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mapping {
    /// First address.
    pub(crate) start: u64,
    /// One past the last.
    pub(crate) end: u64,
    /// Offset of `start` in the file.
    pub(crate) file_offset: u64,
    /// As the node sees it; `[vdso]` and the like keep their brackets, anonymous memory is empty.
    pub(crate) path: String,
    /// Code may run there.
    pub(crate) executable: bool,
}

/// A thread of the node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Thread {
    /// Its id in the node's own pid namespace, as the kernel program sees it.
    pub(crate) tid: u32,
    /// Its id as seen from here.
    pub(crate) outside: u32,
    /// The name it was given, at most 15 bytes.
    pub(crate) name: String,
}

/// An open handle on the node's process.
pub(crate) struct Process {
    /// Pid as seen from here.
    pub(crate) pid: u32,
    memory: File,
}

/// Identity of the pid namespace of the node, and the node's pid in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PidNamespace {
    /// Device and inode of `/proc/PID/ns/pid`.
    pub(crate) device: u64,
    pub(crate) inode: u64,
    /// The node's pid there.
    pub(crate) tgid: u32,
}

impl Process {
    /// Whether a process with this pid can be seen.
    pub(crate) fn exists(pid: u32) -> bool {
        fs::metadata(format!("/proc/{pid}")).is_ok()
    }

    /// Opens the memory of `pid` for reading.
    pub(crate) fn open(pid: u32) -> Result<Self, ProbeError> {
        let memory = File::open(format!("/proc/{pid}/mem"))
            .map_err(ProbeError::io(format!("opening the memory of process {pid}")))?;
        Ok(Self { pid, memory })
    }

    /// False once the process has ended, also while it is still a zombie.
    pub(crate) fn is_alive(&self) -> bool {
        fs::read_to_string(format!("/proc/{}/stat", self.pid)).is_ok_and(|stat| {
            stat.rsplit(')').next().is_some_and(|rest| {
                !matches!(rest.trim_start().as_bytes().first(), Some(b'Z' | b'X'))
            })
        })
    }

    /// The executable, reached through the node's own root directory.
    pub(crate) fn executable(&self) -> Result<PathBuf, ProbeError> {
        let link = PathBuf::from(format!("/proc/{}/exe", self.pid));
        fs::read_link(&link)
            .map_err(ProbeError::io(format!("reading the executable of process {}", self.pid)))
    }

    /// A path of the node, as a path from here.
    pub(crate) fn outside_path(&self, inside: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/root{inside}", self.pid))
    }

    /// The file behind a mapping, also one that was deleted or replaced since, or that its path leads to
    /// from nowhere but the node's own mounts. Takes `CAP_CHECKPOINT_RESTORE`.
    pub(crate) fn mapped_file(&self, mapping: &Mapping) -> io::Result<File> {
        let Mapping { start, end, .. } = mapping;
        File::open(format!("/proc/{}/map_files/{start:x}-{end:x}", self.pid))
    }

    /// All mappings in order of address.
    pub(crate) fn mappings(&self) -> Result<Vec<Mapping>, ProbeError> {
        let text = fs::read_to_string(format!("/proc/{}/maps", self.pid))
            .map_err(ProbeError::io(format!("reading the mappings of process {}", self.pid)))?;
        Ok(text.lines().filter_map(parse_mapping).collect())
    }

    /// All threads that can be seen now.
    pub(crate) fn threads(&self) -> Result<Vec<Thread>, ProbeError> {
        let directory = format!("/proc/{}/task", self.pid);
        let entries = fs::read_dir(&directory)
            .map_err(ProbeError::io(format!("listing the threads of process {}", self.pid)))?;
        Ok(entries
            .filter_map(|entry| {
                let entry = entry.ok()?;
                let (path, outside) = (entry.path(), entry.file_name().to_str()?.parse().ok()?);
                let name = fs::read_to_string(path.join("comm")).ok()?.trim_end().to_owned();
                let status = fs::read_to_string(path.join("status")).ok()?;
                Some(Thread { tid: innermost_pid(&status)?, outside, name })
            })
            .collect())
    }

    /// The pid namespace of the node.
    pub(crate) fn pid_namespace(&self) -> Result<PidNamespace, ProbeError> {
        let path = format!("/proc/{}/ns/pid", self.pid);
        let stat = rustix::fs::stat(&path).map_err(|errno| ProbeError::Io {
            action: format!("looking at {path}"),
            source: errno.into(),
        })?;
        let status_path = format!("/proc/{}/status", self.pid);
        let status = fs::read_to_string(&status_path)
            .map_err(ProbeError::io(format!("reading {status_path}")))?;
        let tgid = innermost_pid(&status).unwrap_or(self.pid);
        Ok(PidNamespace { device: stat.st_dev, inode: stat.st_ino, tgid })
    }
}

impl ReadMemory for Process {
    fn read(&self, address: u64, buf: &mut [u8]) -> io::Result<()> {
        self.memory.read_exact_at(buf, address)
    }
}

/// The last column of `NSpid`: the id in the namespace that the task itself lives in.
fn innermost_pid(status: &str) -> Option<u32> {
    let line = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    line.split_whitespace().next_back()?.parse().ok()
}

/// A line of `/proc/PID/maps` (`man 5 proc_pid_maps`).
fn parse_mapping(line: &str) -> Option<Mapping> {
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
    })
}

#[cfg(test)]
mod tests {
    use super::{innermost_pid, parse_mapping};

    #[test]
    fn a_mapping_with_spaces_in_its_path() {
        let line = "7fc293c00000-7fc295c00000 r-xs 00001000 00:01 30      /memfd:vmem (deleted)";
        let mapping = parse_mapping(line).unwrap();
        assert_eq!(mapping.start, 0x7fc2_93c0_0000);
        assert_eq!(mapping.file_offset, 0x1000);
        assert_eq!(mapping.path, "/memfd:vmem (deleted)");
        assert!(mapping.executable);
    }

    #[test]
    fn an_anonymous_mapping() {
        let mapping = parse_mapping("7f00-7f10 rw-p 00000000 00:00 0 ").unwrap();
        assert_eq!((mapping.path.as_str(), mapping.executable), ("", false));
    }

    #[test]
    fn the_innermost_pid_is_the_last() {
        assert_eq!(innermost_pid("Name:\tx\nNSpid:\t4711\t12\t1\n"), Some(1));
    }
}
