//! Limits and pressure of a process's control groups (cgroups(7)), of version 1 and 2.

mod cpu_limit;
mod directories;
mod io_limits;
mod pressure;

pub use cpu_limit::CpuLimit;
pub(super) use directories::GroupDirectories;
pub(super) use io_limits::io_limits;
pub(super) use pressure::{machine_pressure, pressure};
