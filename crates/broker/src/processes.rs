//! Which processes belong to a throwaway broker.
//!
//! Every one of them carries [`MARKER`]`=directory` in its environment, also those that made
//! themselves daemons. That survives forks and cannot be confused with a process that got a freed
//! pid.

use std::{fs, path::Path};

/// The variable that names the broker's directory.
pub(crate) const MARKER: &str = "RABBITSCOPE_BROKER";

/// Pids of all processes of the broker in `directory`. Dead but unreaped ones are not among them.
pub(crate) fn of(directory: &Path) -> Vec<u32> {
    let wanted = format!("{MARKER}={}", directory.display());
    pids().filter(|&pid| environment_has(pid, wanted.as_bytes())).collect()
}

fn pids() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn environment_has(pid: u32, wanted: &[u8]) -> bool {
    fs::read(format!("/proc/{pid}/environ"))
        .is_ok_and(|environment| environment.split(|&byte| byte == 0).any(|pair| pair == wanted))
}
