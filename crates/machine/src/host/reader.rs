//! Readings of the machine for one process.

use std::{fs, io, time::Instant};

use super::{
    control_group::{CpuLimit, GroupDirectories, io_limits, machine_pressure, pressure},
    cpu_list::CpuList,
    descriptors::{descriptor_limit, open_descriptors},
    disk::DataDisk,
    mount_table::Mount,
    process_times::ProcessTime,
    reading::{HostReading, HostState, Pressures},
    swap::{bytes_in_swap, swapped_in_pages},
    threads::{ThreadPlace, ThreadTimes},
};
use crate::{
    cpu_times::CpuTimes,
    process::{ControlGroups, Status},
    text::read,
};

/// A directory of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataDirectory {
    /// Its path as the process sees it.
    pub path: String,
    /// Number of the mount that it is on, if the directory could be opened.
    pub mount: Option<u64>,
}

/// Reads the machine for one process. Files of another user's process may need the right to trace it.
#[derive(Clone, Debug)]
pub struct HostReader {
    pid: u32,
    groups: GroupDirectories,
    disk: Option<DataDisk>,
}

impl HostReader {
    /// Finds the control groups of a process and the disk of its data. Fails without such a process.
    pub fn new(pid: u32, data: Option<&DataDirectory>) -> io::Result<Self> {
        let groups = GroupDirectories::find(&ControlGroups::read(pid)?, &Mount::all("self")?);
        let disk = data.and_then(|data| DataDisk::find(pid, &data.path, data.mount).ok().flatten());
        Ok(Self { pid, groups, disk })
    }

    /// Returns the disk of the data. Absent if it is unknown.
    pub fn disk(&self) -> Option<&DataDisk> {
        self.disk.as_ref()
    }

    /// Reads the counters.
    pub fn read(&self) -> io::Result<HostReading> {
        Ok(HostReading {
            at: Instant::now(),
            cpu: CpuTimes::now(),
            processes: ProcessTime::all()?,
            threads: ThreadTimes::all(self.pid)?,
            cpu_limits: CpuLimit::all(&self.groups.cpu),
            pressures: Pressures {
                cpu: machine_pressure("cpu"),
                io: pressure("io", &self.groups.unified),
                memory: pressure("memory", &self.groups.unified),
            },
            swapped_in_pages: swapped_in_pages(),
            disk: self.disk.as_ref().and_then(DataDisk::counters),
        })
    }

    /// Reads the facts of this moment.
    pub fn state(&self) -> io::Result<HostState> {
        let online = read("/sys/devices/system/cpu/online")?;
        let devices = self.disk.as_ref().map_or(&[][..], DataDisk::passed);
        Ok(HostState {
            cpus: CpuList::parse(&online).map_or(0, |cpus| cpus.len() as u64),
            threads: ThreadPlace::all(self.pid)?,
            descriptors: open_descriptors(self.pid),
            descriptor_limit: descriptor_limit(self.pid),
            swap_bytes: bytes_in_swap(&Status::read(self.pid)?),
            io_limits: io_limits(&self.groups.io, devices),
        })
    }

    /// Returns the pid of this program as `/proc` shows it.
    pub fn own_pid() -> Option<u32> {
        fs::read_link("/proc/self").ok()?.to_str()?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_and_its_machine() {
        let own = std::process::id();
        let data = DataDirectory { path: "/".to_owned(), mount: None };
        let reader = HostReader::new(own, Some(&data)).unwrap();
        let (before, state, after) =
            (reader.read().unwrap(), reader.state().unwrap(), reader.read().unwrap());
        assert_eq!(HostReader::own_pid(), Some(own));
        assert!(before.processes.iter().any(|process| process.pid == own));
        assert_eq!(before.disk.is_some(), reader.disk().is_some());
        assert!(after.cpu.unwrap().total >= before.cpu.unwrap().total);
        assert!(state.cpus > 0 && state.descriptors.unwrap() > 2, "{state:?}");
        assert!(HostReader::new(u32::MAX, None).is_err());
    }
}
