//! The machine and the control group of a process, at one moment.
//!
//! * [`HostReader`]: knows the process's control group and disk, and makes a [`HostReading`];
//! * [`HostReading`]: counters, which mean something as the difference of two readings;
//! * [`HostState`]: facts of one moment, such as the number of open files;
//! * `control_group`, `disk`: their places and their figures.
//!
//! Differences, shares and the judgement of them are elsewhere.

mod control_group;
mod cpu_list;
mod descriptors;
mod device_number;
mod disk;
mod mount_table;
mod process_times;
mod reader;
mod reading;
mod swap;
mod threads;

pub use control_group::CpuLimit;
pub use cpu_list::CpuList;
pub use device_number::DeviceNumber;
pub use disk::{DataDisk, DiskCounters};
pub use process_times::ProcessTime;
pub use reader::{DataDirectory, HostReader};
pub use reading::{HostReading, HostState, Pressures};
pub use threads::{ThreadPlace, ThreadTimes};
