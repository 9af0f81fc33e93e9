//! The arguments of a process. A process can set them to anything, so they prove nothing.

use std::{
    fs::File,
    io::{self, Read},
};

/// Limit for the size of arguments; RabbitMQ's have some kilobytes. A process may declare any of its memory as its
/// arguments (`PR_SET_MM_MAP` of prctl(2)).
const MAX_BYTES: u64 = 256 << 10;

/// Limit for a read of the program's name alone; a path has at most 4096 bytes.
const MAX_NAME_BYTES: u64 = 4 << 10;

/// Returns the program name in the arguments of a process.
pub fn first_argument(pid: u32) -> Option<String> {
    beginning(pid, MAX_NAME_BYTES).ok()?.into_iter().next()
}

/// Returns the arguments of a process, the program name first; `None` without such a process.
pub fn arguments(pid: u32) -> Option<Vec<String>> {
    beginning(pid, MAX_BYTES).ok()
}

fn beginning(pid: u32, most: u64) -> io::Result<Vec<String>> {
    let mut bytes = Vec::new();
    File::open(format!("/proc/{pid}/cmdline"))?.take(most).read_to_end(&mut bytes)?;
    Ok(nul_separated(&bytes))
}

fn nul_separated(bytes: &[u8]) -> Vec<String> {
    bytes
        .split(|&byte| byte == 0)
        .filter(|part| !part.is_empty())
        .map(|part| String::from_utf8_lossy(part).into_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use std::{
        process::Command,
        time::{Duration, Instant},
    };

    use super::{MAX_BYTES, arguments, first_argument, nul_separated};

    #[test]
    fn arguments_are_separated_by_nul() {
        assert_eq!(nul_separated(b"beam.smp\0-sname\0x\0"), ["beam.smp", "-sname", "x"]);
    }

    #[test]
    fn arguments_without_end_are_not_read_to_their_end() {
        let long = "x".repeat(100 << 10);
        let script = ["-c", "read line", "name", &long, &long, &long, &long];
        let mut command = Command::new("/bin/sh");
        let mut running = command.args(script).stdin(std::process::Stdio::piped()).spawn().unwrap();
        let began = Instant::now();
        // The kernel sets them at the end of an execution, after the call has returned.
        while first_argument(running.id()).is_none() && began.elapsed() < Duration::from_secs(30) {
            std::thread::yield_now();
        }
        let (program, all) = (first_argument(running.id()), arguments(running.id()));
        running.kill().unwrap();
        running.wait().unwrap();
        assert_eq!(program.as_deref(), Some("/bin/sh"));
        let bytes: usize = all.unwrap().iter().map(String::len).sum();
        assert!(bytes > 100 << 10 && bytes as u64 <= MAX_BYTES, "{bytes}");
    }
}
