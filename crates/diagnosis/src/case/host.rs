//! The machine and the control group of a node.

use super::Use;

/// The machine of a node. Figures that the kernel does not show are absent. Shares are of the time of the check.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Host {
    /// Duration of the observation in seconds.
    pub seconds: f64,
    /// Number of online CPUs.
    pub cpus: u64,
    /// Number of CPUs that the node may use (affinity and control group).
    pub allowed_cpus: u64,
    /// Number of threads of the node's normal schedulers. Absent if they could not be counted.
    pub schedulers: Option<u64>,
    /// CPU time of the node, in cores.
    pub node_cores: f64,
    /// Time in which threads of the node were ready and waited for a CPU, in cores.
    pub waiting_cores: Option<f64>,
    /// Limit of the control group, in cores.
    pub quota_cores: Option<f64>,
    /// Share of the control group's periods in which it was throttled, 0 to 1.
    pub throttled_periods: Option<f64>,
    /// Time in which CPUs were kept from the control group, added up over CPUs: 0 to 1 for each CPU.
    pub throttled_share: Option<f64>,
    /// Idle share of all CPUs, 0 to 1.
    pub idle_share: f64,
    /// Share of all CPUs' time that the hypervisor gave to others, 0 to 1.
    pub steal_share: f64,
    /// Share of the time in which a task of the machine waited for a CPU (PSI), 0 to 1.
    pub cpu_pressure: Option<f64>,
    /// Share of the time in which a task of the node's control group, or the machine, waited for a disk (PSI), 0 to 1.
    pub io_pressure: Option<f64>,
    /// Share of the time in which a task of the node's control group, or the machine, waited for memory (PSI), 0 to 1.
    pub memory_pressure: Option<f64>,
    /// Pages swapped in per second on the machine.
    pub swapped_in_per_second: Option<f64>,
    /// Bytes of the node in swap.
    pub node_swap_bytes: Option<u64>,
    /// Other processes with the most CPU time, this program excluded.
    pub neighbours: Vec<Neighbour>,
    /// CPU time of this program, in cores.
    pub own_cores: f64,
    /// The disk of the node's data. Absent if it is unknown.
    pub data_disk: Option<Disk>,
    /// Limits of the control group for this disk, as `io.max` prints them; empty without limits.
    pub io_limits: String,
    /// File descriptors of the node, with the soft limit.
    pub descriptors: Option<Use>,
    /// Pids of other Erlang VMs whose schedulers are bound to the same CPUs as this node's.
    pub bound_alike: Vec<u32>,
}

impl Host {
    /// Returns the number of CPUs that the node may use: those of its affinity, within the quota of its control group.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    pub(crate) fn usable_cpus(&self) -> u64 {
        (self.usable_cores().floor() as u64).max(1)
    }

    /// Returns the CPU time that the node may use, in cores.
    pub(crate) fn usable_cores(&self) -> f64 {
        let allowed = if self.allowed_cpus == 0 { self.cpus } else { self.allowed_cpus };
        let quota = self.quota_cores.filter(|quota| *quota > 0.0);
        quota.map_or(allowed as f64, |quota| quota.min(allowed as f64))
    }
}

/// Another process of the machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Neighbour {
    /// Process identifier; 0 if it is unknown.
    pub pid: u32,
    /// Command, as in `/proc/PID/comm`.
    pub command: String,
    /// CPU time in cores, without children that have ended.
    pub cores: f64,
    /// Is true for clients of the node on this machine. Other Erlang VMs are never marked: they may belong to its cluster.
    pub is_client: bool,
}

impl Neighbour {
    /// Returns the command, with the process identifier if that is known.
    pub fn label(&self) -> String {
        match self.pid {
            0 => self.command.clone(),
            pid => format!("{} (pid {pid})", self.command),
        }
    }
}

/// A disk.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Disk {
    /// Name of the device, such as `vda`.
    pub device: String,
    /// Mount point of the file system with the node's data.
    pub mount: String,
    /// Share of the time in which it had requests, 0 to 1.
    pub busy_share: f64,
    /// Writes per second.
    pub writes_per_second: f64,
    /// Mean duration of a write in milliseconds. Absent without writes.
    pub write_ms: Option<f64>,
    /// Flushes per second. Absent in kernels before 5.5.
    pub flushes_per_second: Option<f64>,
    /// Mean duration of a flush in milliseconds. Absent without flushes.
    pub flush_ms: Option<f64>,
    /// Mean number of requests in flight.
    pub in_flight: f64,
}
