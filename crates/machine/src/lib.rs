//! This machine as `/proc` shows it. No other crate parses files of `/proc`, except symbols of the kernel.
//!
//! * [`process`]: state, threads, memory, arguments, environment and control groups of a process;
//! * [`sockets`]: TCP sockets and their holders;
//! * [`UsageMeter`], [`ProcessUsage`], [`CpuTimes`]: usage of processes and of the machine;
//! * [`host`]: the machine, the control group and the disk of a process, at one moment;
//! * [`ProcessOrigin`]: the check whether a process still runs;
//! * the rest: kernel, hardware, namespaces and mounts.
//!
//! Functions that need a capability, or the memory of a process, are in the crate `probe`. The crate `procfs` does not
//! fit: a name that is not UTF-8 hides a process or a mount from it, a mapped file `/SYSV` ends it with a panic, and it
//! reads arguments without a limit.

mod cpu_times;
mod hardware;
pub mod host;
mod kernel;
mod mounts;
mod namespaces;
mod origin;
pub mod process;
pub mod sockets;
mod text;
mod usage;

pub use cpu_times::CpuTimes;
pub use hardware::Hardware;
pub use kernel::{
    boot_id, descriptor_limit, host_name, kernel_setting, local_ports, monotonic_offset_nanos,
    thread_cpu_nanos, thread_wait_nanos, uptime_ticks,
};
pub use mounts::mounted_below;
pub use namespaces::{Namespace, hidden_user};
pub use origin::{Liveness, ProcessOrigin};
pub use process::{ProcessIdentity, Sight};
pub use usage::{ProcessUsage, TreeUsage, UsageMeter};
