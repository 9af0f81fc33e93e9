//! The node's process: memory, mappings, threads, pid namespace. Only reads; never stops the process.
//!
//! A [`Process`] is a proven VM ([`super::image`]) and stays that process. After each read a check confirms that
//! the process is alive and executes the same file. So nothing is read of another process with the same pid, or of
//! a process that has executed another program.

use std::{
    fs::{self, File},
    io,
    os::fd::OwnedFd,
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{Mode, OFlags},
    io::retry_on_intr,
    process::{Pid, PidfdFlags, pidfd_open},
};

use super::{
    image::{Image, open_below, open_link},
    memory,
};
use crate::{
    error::ProbeError,
    kernel_interface::INITIAL_PID_NAMESPACE,
    permission::{NODE, raise},
};

/// Limit for the size of the vdso, which has two pages on x86-64.
pub(crate) const MAX_VDSO_BYTES: u64 = 1 << 20;

/// Limit for the time between the kernel's release of a process's memory and the end of the process. The kernel
/// closes its files meanwhile.
const ENDING_TIMEOUT: Duration = Duration::from_millis(500);

/// Reads another address space. Tests of parsers implement it too.
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
    /// Its path in the node's mount namespace. `[vdso]` and the like keep their brackets; anonymous memory has
    /// none.
    pub(crate) path: String,
    /// True if code may run there.
    pub(crate) executable: bool,
    /// True if the node may write there.
    pub(crate) writable: bool,
}

/// A thread of the node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Thread {
    /// Id in the node's own pid namespace, which the kernel program sees.
    pub(crate) tid: u32,
    /// Id in this process's pid namespace.
    pub(crate) outside: u32,
    /// Name of the thread, at most 15 bytes.
    pub(crate) name: String,
}

/// An open handle on the node's process.
#[derive(Debug)]
pub(crate) struct Process {
    /// Pid in this process's pid namespace.
    pub(crate) pid: u32,
    /// The file that the process executes.
    pub(crate) image: Image,
    handle: OwnedFd,
    /// The root directory of the process, in its own mount namespace.
    root: OwnedFd,
}

/// Identity of the pid namespace of the node, and the node's pid in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PidNamespace {
    /// Device and inode of `/proc/PID/ns/pid`.
    pub(crate) device: u64,
    pub(crate) inode: u64,
    /// The node's pid in the namespace.
    pub(crate) tgid: u32,
}

/// Returns whether `/proc` has the pids of the initial pid namespace, in which every process of the machine has
/// one.
pub(crate) fn has_initial_pids() -> bool {
    let own = rustix::fs::stat("/proc/self/ns/pid");
    own.is_ok_and(|own| own.st_ino == u64::from(INITIAL_PID_NAMESPACE))
}

/// Limit for the size of the environment. The kernel allows a quarter of the stack limit, 2 MiB by default, for
/// arguments and environment together.
const MAX_ENVIRONMENT_BYTES: u64 = 2 << 20;

impl Process {
    /// Returns whether a process with this pid is visible.
    pub(crate) fn exists(pid: u32) -> bool {
        fs::metadata(format!("/proc/{pid}")).is_ok()
    }

    /// Proves that `pid` is an Erlang VM.
    pub(crate) fn open(pid: u32) -> Result<Self, ProbeError> {
        let gone = || ProbeError::NoSuchProcess { pid };
        let number = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or_else(gone)?;
        // Opened before the proof, so that the proof is about this process.
        let handle = pidfd_open(number, PidfdFlags::empty()).map_err(|_| gone())?;
        let image = Image::read(pid)?;
        let root = root_of(pid)
            .map_err(ProbeError::io(format!("opening the root directory of process {pid}")))?;
        let process = Self { pid, image, handle, root };
        process.confirm().map_err(ProbeError::io(format!("looking at process {pid}")))?;
        Ok(process)
    }

    /// Returns whether the process has not ended. A zombie has ended.
    pub(crate) fn is_alive(&self) -> bool {
        self.is_alive_for(Duration::ZERO)
    }

    /// Returns whether the process has ended or is about to. After a failed read the kernel may have freed the
    /// process's memory and not yet reported its end.
    pub(crate) fn is_ending(&self) -> bool {
        !self.is_alive_for(ENDING_TIMEOUT)
    }

    fn is_alive_for(&self, time: Duration) -> bool {
        let mut ended = [PollFd::new(&self.handle, PollFlags::IN)];
        let timeout = Timespec { tv_sec: 0, tv_nsec: time.subsec_nanos().into() };
        matches!(retry_on_intr(|| poll(&mut ended, Some(&timeout))), Ok(0))
    }

    /// Checks that the last read was of this process, and that it still is the VM.
    pub(super) fn confirm(&self) -> io::Result<()> {
        // A process that is alive after a read had its pid during the read.
        if self.is_alive() && self.image.is_executed_by(self.pid) {
            return Ok(());
        }
        Err(io::Error::new(io::ErrorKind::NotFound, "it has ended or runs another program"))
    }

    /// The path of the executable in the node's view.
    pub(crate) fn executable(&self) -> Result<String, ProbeError> {
        let _raised = raise(NODE);
        let path = fs::read_link(format!("/proc/{}/exe", self.pid));
        path.map(|path| path.display().to_string())
            .map_err(ProbeError::io(format!("reading the executable of process {}", self.pid)))
    }

    /// Opens a file by its path in the node's mount namespace, with the caller's own rights.
    pub(crate) fn file(&self, inside: &str) -> io::Result<File> {
        open_below(&self.root, inside)
    }

    /// Opens the file of a mapping, even if it was deleted or replaced or is visible only in the node's mount
    /// namespace. Only root may do that.
    pub(crate) fn mapped_file(&self, mapping: &Mapping) -> io::Result<File> {
        let Mapping { start, end, .. } = mapping;
        open_link(&format!("/proc/{}/map_files/{start:x}-{end:x}", self.pid))
    }

    /// The memory of a mapping. `None` if it has more than `most` bytes.
    pub(crate) fn mapped_bytes(&self, mapping: &Mapping, most: u64) -> Option<Vec<u8>> {
        let length = mapping.end.checked_sub(mapping.start).filter(|&length| length <= most)?;
        let mut bytes = vec![0; usize::try_from(length).ok()?];
        self.read(mapping.start, &mut bytes).ok()?;
        Some(bytes)
    }

    /// All mappings in order of address.
    pub(crate) fn mappings(&self) -> Result<Vec<Mapping>, ProbeError> {
        let text = self.text("maps")?;
        Ok(text.lines().filter_map(parse_mapping).collect())
    }

    /// A variable of the environment with which the node was started. The environment is read as a whole; only the
    /// variable is kept.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        self.variables([name]).and_then(|[value]| value)
    }

    /// Several variables, as in [`Process::variable`]. `None` if the environment is unreadable.
    pub(super) fn variables<const N: usize>(
        &self,
        names: [&str; N],
    ) -> Option<[Option<String>; N]> {
        let span = environment_in(&self.text("stat").ok()?)?;
        let bytes = (span.end - span.start).min(MAX_ENVIRONMENT_BYTES);
        let mut environment = vec![0; usize::try_from(bytes).ok()?];
        self.read(span.start, &mut environment).ok()?;
        Some(names.map(|name| {
            let mut entries = environment.split(|&byte| byte == 0);
            let value = entries
                .find_map(|entry| entry.strip_prefix(name.as_bytes())?.strip_prefix(b"="))?;
            String::from_utf8(value.to_vec()).ok()
        }))
    }

    /// The control groups of the process (cgroups(7)), a line for each hierarchy.
    pub(super) fn control_groups(&self) -> Result<String, ProbeError> {
        self.text("cgroup")
    }

    /// Reads a file of the process in `/proc`.
    fn text(&self, name: &str) -> Result<String, ProbeError> {
        let path = format!("/proc/{}/{name}", self.pid);
        let _raised = raise(NODE);
        let read = fs::read_to_string(&path).and_then(|text| self.confirm().map(|()| text));
        read.map_err(ProbeError::io(format!("reading {path}")))
    }

    /// All currently visible threads.
    pub(crate) fn threads(&self) -> Result<Vec<Thread>, ProbeError> {
        let directory = format!("/proc/{}/task", self.pid);
        let _raised = raise(NODE);
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
        let stat = {
            let _raised = raise(NODE);
            rustix::fs::stat(&path)
        };
        let stat = stat.map_err(|errno| ProbeError::Io {
            action: format!("looking at {path}"),
            source: errno.into(),
        })?;
        let tgid = innermost_pid(&self.text("status")?).unwrap_or(self.pid);
        Ok(PidNamespace { device: stat.st_dev, inode: stat.st_ino, tgid })
    }
}

/// The root directory of the process, opened as a path only: files below it are opened with the caller's own
/// rights.
fn root_of(pid: u32) -> io::Result<OwnedFd> {
    let _raised = raise(NODE);
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(format!("/proc/{pid}/root"), flags, Mode::empty())?)
}

impl ReadMemory for Process {
    fn read(&self, address: u64, buf: &mut [u8]) -> io::Result<()> {
        let _raised = raise(NODE);
        memory::read(self.pid, address, buf).and_then(|()| self.confirm())
    }
}

/// The addresses of the environment: fields 50 and 51 of `proc_pid_stat(5)`. The program name in field 2 may have
/// spaces and parentheses.
fn environment_in(stat: &str) -> Option<std::ops::Range<u64>> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace().skip(50 - 3);
    let mut next = || fields.next()?.parse().ok();
    let (first, last) = (next()?, next()?);
    (0 < first && first < last).then_some(first..last)
}

/// The last column of `NSpid`: the id in the namespace of the task itself.
fn innermost_pid(status: &str) -> Option<u32> {
    let line = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    line.split_whitespace().next_back()?.parse().ok()
}

/// Parses a line of `/proc/PID/maps` (`man 5 proc_pid_maps`).
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
        writable: permissions.contains('w'),
    })
}

#[cfg(test)]
mod tests {
    use super::{environment_in, innermost_pid, parse_mapping};

    #[test]
    fn the_place_of_the_environment() {
        let zeros = "0 ".repeat(47);
        assert_eq!(environment_in(&format!("7 (a) b) {zeros}4096 8192 0")), Some(4096..8192));
        assert_eq!(environment_in(&format!("7 (a) {zeros}0 0 0")), None, "not to be seen");
        assert_eq!(environment_in("7 (a) S"), None);
    }

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
