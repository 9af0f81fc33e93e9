//! The disk of a directory, and its counters.

mod block_device;
mod counters;
mod data_disk;

pub use counters::DiskCounters;
pub use data_disk::DataDisk;
