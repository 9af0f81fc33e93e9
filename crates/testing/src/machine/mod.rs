//! What tests need of this machine: ports, processes, networks, disks, certificates, tokens and Python.

mod certificates;
mod network;
mod ports;
mod processes;
mod python;
mod small_disk;
mod tokens;

pub use certificates::{certificates, tls_listener};
pub use network::Network;
pub use ports::{free_address, free_port};
pub use processes::{holds, kernel_programs_of, pause, pid, processes_naming, processes_showing};
pub use python::{PYTHON, environment};
pub use small_disk::SmallDisk;
pub use tokens::{token, trust_tokens};
