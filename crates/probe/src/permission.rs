//! What this process may do, asked before anything is tried, so that one line can name all that is
//! missing.

use std::fs;

use crate::error::ProbeError;

/// Number and name of a capability (capabilities(7)).
type Capability = (u32, &'static str);

const CAP_SYS_ADMIN: u32 = 21;
const CAP_PERFMON: u32 = 38;

/// Needed to load the program, to open the clock on every CPU and to read another user's memory.
const NEEDED: [Capability; 3] =
    [(39, "CAP_BPF"), (CAP_PERFMON, "CAP_PERFMON"), (19, "CAP_SYS_PTRACE")];

/// Refuses when a capability is missing that sampling a node of another user needs.
pub(crate) fn require_sampling() -> Result<(), ProbeError> {
    let status = fs::read_to_string("/proc/self/status")
        .map_err(ProbeError::io("reading /proc/self/status"))?;
    let missing = missing_of(effective(&status));
    if missing.is_empty() {
        return Ok(());
    }
    let program = std::env::current_exe()
        .map_or_else(|_| "rabbitscope".into(), |path| path.display().to_string());
    Err(ProbeError::MissingCapabilities { missing, program })
}

fn effective(status: &str) -> u64 {
    status
        .lines()
        .find_map(|line| line.strip_prefix("CapEff:"))
        .and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok())
        .unwrap_or(0)
}

/// `CAP_SYS_ADMIN` stands in for the two that were split off it, not for `CAP_SYS_PTRACE`.
fn missing_of(effective: u64) -> Vec<&'static str> {
    let has = |bit: u32| effective >> bit & 1 == 1;
    NEEDED
        .into_iter()
        .filter(|&(bit, _)| {
            let split_off = bit >= CAP_PERFMON;
            !(has(bit) || split_off && has(CAP_SYS_ADMIN))
        })
        .map(|(_, name)| name)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{effective, missing_of};

    fn check(status: &str, expected: &[&str]) {
        assert_eq!(missing_of(effective(status)), expected);
    }

    #[test]
    fn root_lacks_nothing() {
        check("Name:\tx\nCapEff:\t000001ffffffffff\n", &[]);
    }

    #[test]
    fn an_ordinary_user_lacks_all_three() {
        check("CapEff:\t0000000000000000\n", &["CAP_BPF", "CAP_PERFMON", "CAP_SYS_PTRACE"]);
    }

    #[test]
    fn sys_admin_does_not_open_other_processes() {
        check("CapEff:\t0000000000200000\n", &["CAP_SYS_PTRACE"]);
    }
}
