//! Which processes belong to a throwaway broker.
//!
//! Every one of them carries [`MARKER`]`=directory` in its environment, also those that made
//! themselves daemons. That survives forks and cannot be confused with a process that got a freed
//! pid.

use std::{
    fs,
    path::Path,
    thread,
    time::{Duration, Instant},
};

/// The variable that names the broker's directory.
pub(crate) const MARKER: &str = "RABBITSCOPE_BROKER";

/// How long a program takes to replace another, at most: on a machine that has no time for it and has to
/// read the program from its disk.
const EXEC_LIMIT: Duration = Duration::from_secs(10);

/// Pids of all processes of the broker in `directory`. Dead but unreaped ones are not among them.
pub(crate) fn of(directory: &Path) -> Vec<u32> {
    let wanted = marker(directory);
    pids().filter(|&pid| environment(pid).is_some_and(|it| has(&it, &wanted))).collect()
}

/// This process belongs to the broker in `directory`. While a program replaces another, as the
/// start scripts do, the kernel shows no environment; then it is asked again.
pub(crate) fn is_of(directory: &Path, pid: u32) -> bool {
    let wanted = marker(directory);
    let began = Instant::now();
    while let Some(environment) = environment(pid) {
        let replacing = environment.is_empty() && !is_dead(pid) && began.elapsed() < EXEC_LIMIT;
        if !replacing {
            return has(&environment, &wanted);
        }
        thread::sleep(Duration::from_millis(1));
    }
    false
}

fn pids() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn marker(directory: &Path) -> String {
    format!("{MARKER}={}", directory.display())
}

fn environment(pid: u32) -> Option<Vec<u8>> {
    fs::read(format!("/proc/{pid}/environ")).ok()
}

fn has(environment: &[u8], wanted: &str) -> bool {
    environment.split(|&byte| byte == 0).any(|pair| pair == wanted.as_bytes())
}

/// What became of a process, for a message.
pub(crate) fn fate(pid: u32) -> &'static str {
    match fs::read_to_string(format!("/proc/{pid}/stat")) {
        Err(_) => "is gone",
        Ok(_) if is_dead(pid) => "has ended",
        Ok(_) => "is not the node's any more",
    }
}

/// Ended, though its parent has not asked for its exit code yet.
fn is_dead(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with(['Z', 'X']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_must_be_there_in_full() {
        fn check(environment: &[u8], expected: bool) {
            assert_eq!(has(environment, &marker(Path::new("/a"))), expected);
        }
        check(b"X=1\0RABBITSCOPE_BROKER=/a\0", true);
        check(b"RABBITSCOPE_BROKER=/ab\0", false);
        check(b"", false);
        assert!(!is_dead(std::process::id()));
        assert_eq!(fate(u32::MAX), "is gone");
    }
}
