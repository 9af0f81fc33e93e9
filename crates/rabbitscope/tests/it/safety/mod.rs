//! Files, privileges, listeners and terminals that others may attack; full disks; the fault campaign.

mod faults;
mod file_modes;
mod full_disk;
pub(crate) mod installed;
mod listening;
mod planted_files;
mod privileges;
mod slow_clients;
mod swaps;
pub(crate) mod terminals;
