//! Rules about the machine: CPU time, memory, disk, other programs.

pub(super) mod clients_beside;
pub(super) mod io_limit;
pub(super) mod memory_pressure;
pub(super) mod neighbours;
pub(super) mod own_load;
pub(super) mod shared_cores;
pub(super) mod slow_disk;
pub(super) mod steal;
pub(super) mod swap;
pub(super) mod throttling;
