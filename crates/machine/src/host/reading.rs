//! Counters of the machine and of a process at one moment, and facts about that moment.

use std::time::{Duration, Instant};

use super::{
    control_group::CpuLimit,
    disk::DiskCounters,
    process_times::ProcessTime,
    threads::{ThreadPlace, ThreadTimes},
};
use crate::cpu_times::CpuTimes;

/// Counters since the boot or the start of the process. Figures that the kernel does not show are absent.
#[derive(Clone, Debug)]
pub struct HostReading {
    /// Time of the reading.
    pub at: Instant,
    /// CPU time of the machine.
    pub cpu: Option<CpuTimes>,
    /// CPU times of all visible processes, the observed one included.
    pub processes: Vec<ProcessTime>,
    /// Times of the process's threads.
    pub threads: Vec<ThreadTimes>,
    /// Limits of the control group and of those around it, the innermost first. Groups without a limit are left out.
    pub cpu_limits: Vec<CpuLimit>,
    /// Time in which tasks waited for resources.
    pub pressures: Pressures,
    /// Pages that the machine swapped in.
    pub swapped_in_pages: Option<u64>,
    /// Counters of the disk.
    pub disk: Option<DiskCounters>,
}

/// Time in which at least one task waited for a resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pressures {
    /// A CPU, on the whole machine.
    pub cpu: Option<Duration>,
    /// A disk, in the control group or on the machine.
    pub io: Option<Duration>,
    /// Memory, in the control group or on the machine.
    pub memory: Option<Duration>,
}

/// Facts about a process at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostState {
    /// Number of online CPUs.
    pub cpus: u64,
    /// The threads and the CPUs that they may use.
    pub threads: Vec<ThreadPlace>,
    /// Number of open descriptors.
    pub descriptors: Option<u64>,
    /// Soft limit of open descriptors.
    pub descriptor_limit: Option<u64>,
    /// Bytes in swap.
    pub swap_bytes: Option<u64>,
    /// Limits of the control groups for the disk, as `io.max` prints them; empty without limits.
    pub io_limits: String,
}
