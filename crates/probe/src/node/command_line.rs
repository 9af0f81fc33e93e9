//! The arguments of a process. A process can set them to anything, so they prove nothing.

use std::fs;

/// The program name in the arguments of `pid`.
pub(super) fn first_argument(pid: u32) -> Option<String> {
    arguments(pid)?.into_iter().next()
}

/// All arguments of `pid`, the program name first; `None` without such a process.
pub(super) fn arguments(pid: u32) -> Option<Vec<String>> {
    Some(nul_separated(&fs::read(format!("/proc/{pid}/cmdline")).ok()?))
}

pub(super) fn nul_separated(bytes: &[u8]) -> Vec<String> {
    bytes
        .split(|&byte| byte == 0)
        .filter(|part| !part.is_empty())
        .map(|part| String::from_utf8_lossy(part).into_owned())
        .collect()
}
