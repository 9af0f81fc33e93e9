//! Time off the CPU.

use super::cpu::FunctionCpu;

/// Time off the CPU of a node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Waits {
    /// Length of the recording in seconds.
    pub seconds: f64,
    /// Waits that were lost.
    pub lost: u64,
    /// Time in which the normal schedulers were ready and waited for a CPU, in cores.
    pub runnable_cores: f64,
    /// Time in which the normal schedulers ran, in cores. Zero if it was not measured.
    pub scheduler_cores: f64,
    /// Threads that waited for locks of the VM, in cores.
    pub lock_cores: f64,
    /// Callers of these locks, the largest part first, at most 10.
    pub lock_takers: Vec<FunctionCpu>,
    /// Erlang processes that were blocked (in a disk, a lock, a driver) or had no CPU, the longest blocked first, at
    /// most 100.
    pub processes: Vec<ProcessWaits>,
}

/// An Erlang process that was blocked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProcessWaits {
    /// Pid, as the node prints it.
    pub pid: String,
    /// Role; empty if the node was not asked.
    pub role: String,
    /// Name; empty if the node was not asked.
    pub name: String,
    /// Share of the time in which it was blocked, 0 to 1.
    pub blocked_share: f64,
    /// Share of the time in which it was on a scheduler thread that was ready and waited for a CPU, 0 to 1.
    pub runnable_share: f64,
    /// Number of waits in which it was blocked.
    pub waits: u64,
    /// Functions in which it was blocked, the longest first.
    pub waited_in: Vec<WaitedIn>,
}

/// A function in which a process was blocked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WaitedIn {
    /// Name of the innermost Erlang function or BIF, such as `prim_file:sync_nif/2`.
    pub function: String,
    /// Share of the time, 0 to 1.
    pub share: f64,
    /// Number of waits.
    pub waits: u64,
}
