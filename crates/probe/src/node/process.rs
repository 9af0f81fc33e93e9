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

use rabbitscope_machine::{
    Namespace,
    process::{ControlGroups, Mapping, Stat, Status, Thread, mappings, threads},
};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{AtFlags, Mode, OFlags, StatxFlags, statx},
    io::retry_on_intr,
    process::{Pid, PidfdFlags, pidfd_open},
};

use super::{
    image::{Image, directory_below, open_below, open_link},
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
    let own = Namespace::own("pid");
    own.is_ok_and(|own| own.inode == u64::from(INITIAL_PID_NAMESPACE))
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

    /// The number of the mount that has a directory of the node's view. `None` if the caller may not open the
    /// directory, or before Linux 5.8.
    pub(super) fn mount_of(&self, directory: &str) -> Option<u64> {
        let opened = directory_below(&self.root, directory).ok()?;
        let found = statx(&opened, "", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID).ok()?;
        StatxFlags::from_bits_retain(found.stx_mask)
            .contains(StatxFlags::MNT_ID)
            .then_some(found.stx_mnt_id)
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
        self.look("maps", mappings)
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
        let span = self.look("stat", Stat::read).ok()?.environment?;
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

    /// The control groups of the process.
    pub(super) fn control_groups(&self) -> Result<ControlGroups, ProbeError> {
        self.look("cgroup", ControlGroups::read)
    }

    /// Reads a file of the process in `/proc`.
    fn look<T>(
        &self,
        name: &str,
        read: impl FnOnce(u32) -> io::Result<T>,
    ) -> Result<T, ProbeError> {
        let _raised = raise(NODE);
        let found = read(self.pid).and_then(|found| self.confirm().map(|()| found));
        found.map_err(ProbeError::io(format!("reading /proc/{}/{name}", self.pid)))
    }

    /// All currently visible threads.
    pub(crate) fn threads(&self) -> Result<Vec<Thread>, ProbeError> {
        let _raised = raise(NODE);
        threads(self.pid)
            .map_err(ProbeError::io(format!("listing the threads of process {}", self.pid)))
    }

    /// The pid namespace of the node.
    pub(crate) fn pid_namespace(&self) -> Result<PidNamespace, ProbeError> {
        let namespace = {
            let _raised = raise(NODE);
            Namespace::of_process(self.pid, "pid")
        };
        let Namespace { device, inode } =
            namespace.map_err(ProbeError::io(format!("looking at /proc/{}/ns/pid", self.pid)))?;
        let tgid = self.look("status", Status::read)?.innermost_pid().unwrap_or(self.pid);
        Ok(PidNamespace { device, inode, tgid })
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
