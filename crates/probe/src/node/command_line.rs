//! What a process calls itself and what it was started with. Says nothing about what it is.

use std::fs;

/// The program that `pid` says it runs.
pub(super) fn first_argument(pid: u32) -> Option<String> {
    arguments(pid)?.into_iter().next()
}

/// All that `pid` was started with, the program first; absent without such a process.
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
