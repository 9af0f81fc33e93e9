//! Membership of processes in a throwaway broker, and signals to its members.
//!
//! A process belongs to the broker in a directory if all of these conditions hold:
//!
//! - Its environment has [`MARKER`]`=directory`. The variable survives forks, also of daemons. The directory's name has
//!   64 random bits, and only its owner can enter it.
//! - All its user ids are ours.
//! - It started after the directory was made.
//! - It has no controlling terminal. The guard begins a session without one, so nothing that the node starts has one. A
//!   shell that a user gave the node's environment has one.
//!
//! So the node's children (a port program, `os:cmd`) belong to the broker and end with it. One descriptor (pidfd)
//! serves to check and to signal a process, so that no reused pid is hit.

use std::{
    fs,
    os::unix::ffi::OsStrExt,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use rabbitscope_machine::{
    process::{Stat, Status, environment, pids},
    uptime_ticks,
};
use rustix::{
    io::Errno,
    process::{Pid, PidfdFlags, Signal},
};

use crate::BrokerError;

/// The variable that names the broker's directory to everything that belongs to it.
pub(crate) const MARKER: &str = "RABBITSCOPE_BROKER";

/// The variable that names the broker's directory to the guard alone.
pub(crate) const GUARD_MARKER: &str = "RABBITSCOPE_BROKER_GUARD";

/// Name of the file with the time at which the directory was made, in the unit of [`Stat::start_ticks`].
pub(crate) const BORN: &str = "born";

/// Longest time that a program takes to replace another, on a busy machine that reads the program from its disk.
const EXEC_LIMIT: Duration = Duration::from_secs(10);

/// Returns the current time, in the unit of [`BORN`].
pub(crate) fn ticks_now() -> Result<u64, BrokerError> {
    uptime_ticks().map_err(BrokerError::io("read", "/proc/uptime"))
}

/// The marks of one broker's processes. They stay valid when the directory is gone.
#[derive(Clone, Debug)]
pub(crate) struct BrokerProcesses {
    marker: Vec<u8>,
    /// The time of the directory's creation. Without it, no process belongs to the directory.
    born: Option<u64>,
}

impl BrokerProcesses {
    /// The processes of the broker in `directory`.
    pub(crate) fn new(directory: &Path) -> Self {
        Self::marked(MARKER, directory)
    }

    /// The guard of the broker in `directory`.
    pub(crate) fn guard_of(directory: &Path) -> Self {
        Self::marked(GUARD_MARKER, directory)
    }

    fn marked(variable: &str, directory: &Path) -> Self {
        let marker = [variable.as_bytes(), b"=", directory.as_os_str().as_bytes()].concat();
        let born = fs::read_to_string(directory.join(BORN)).ok();
        Self { marker, born: born.and_then(|text| text.trim().parse().ok()) }
    }

    /// Pids of all members, without zombies.
    pub(crate) fn members(&self) -> Vec<u32> {
        all_pids().filter(|&pid| self.has(pid)).collect()
    }

    /// Returns whether some process has the variable, even if other conditions fail. That is enough to leave a
    /// directory alone, but not to end the process: another version of this program may recognise its processes by
    /// other signs.
    pub(crate) fn is_named(&self) -> bool {
        all_pids().any(|pid| environment(pid).is_some_and(|bytes| has_pair(&bytes, &self.marker)))
    }

    /// Returns whether this process is a member. While a program replaces another, as the start scripts do, the kernel
    /// shows no environment; this function then tries again.
    pub(crate) fn has_eventually(&self, pid: u32) -> bool {
        let began = Instant::now();
        while let Some(environment) = environment(pid) {
            let replacing = environment.is_empty() && !is_dead(pid) && began.elapsed() < EXEC_LIMIT;
            if !replacing {
                return self.is_member(pid, &environment);
            }
            thread::sleep(Duration::from_millis(1));
        }
        false
    }

    fn has(&self, pid: u32) -> bool {
        environment(pid).is_some_and(|environment| self.is_member(pid, &environment))
    }

    fn is_member(&self, pid: u32, environment: &[u8]) -> bool {
        has_pair(environment, &self.marker)
            && is_own(pid)
            && Stat::read(pid).is_ok_and(|stat| {
                stat.terminal == 0 && self.born.is_some_and(|born| stat.start_ticks >= born)
            })
    }

    /// Kills the process with SIGKILL if it is a member. A process that is already gone is no error.
    pub(crate) fn kill(&self, pid: u32) {
        self.signal(pid, Signal::KILL);
    }

    /// Halts or continues the process if it is a member.
    pub(crate) fn halt(&self, pid: u32, is_halted: bool) {
        self.signal(pid, if is_halted { Signal::STOP } else { Signal::CONT });
    }

    fn signal(&self, pid: u32, signal: Signal) {
        let Some(number) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return };
        let opened = rustix::process::pidfd_open(number, PidfdFlags::empty());
        if !self.has(pid) {
            return;
        }
        // The descriptor refers to the process that was checked, or to one that is dead by now.
        let _ = match opened {
            Ok(process) => rustix::process::pidfd_send_signal(process, signal),
            // Linux before 5.3, or a sandbox without this system call.
            Err(Errno::NOSYS | Errno::PERM) => rustix::process::kill_process(number, signal),
            Err(_) => return,
        };
    }
}

fn all_pids() -> impl Iterator<Item = u32> {
    pids().unwrap_or_default().into_iter()
}

fn has_pair(environment: &[u8], wanted: &[u8]) -> bool {
    environment.split(|&byte| byte == 0).any(|pair| pair == wanted)
}

/// Returns whether the real, effective, saved and file system user ids are ours.
fn is_own(pid: u32) -> bool {
    let own = rustix::process::geteuid().as_raw();
    Status::read(pid).is_ok_and(|status| status.belongs_to(own))
}

/// The state of a process that is not the node's, for a message.
pub(crate) fn fate(pid: u32) -> &'static str {
    match Stat::read(pid) {
        Err(_) => "is gone",
        Ok(_) if is_dead(pid) => "has ended",
        Ok(_) => "is not the node's any more",
    }
}

/// Returns whether a signal has halted the process, so that it runs no instruction until it is continued.
pub(crate) fn is_halted(pid: u32) -> bool {
    Stat::read(pid).is_ok_and(|stat| stat.state == 'T')
}

/// Returns whether the process has ended, even if its parent has not collected the exit code yet.
fn is_dead(pid: u32) -> bool {
    Stat::read(pid).map_or(true, |stat| stat.has_ended())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_must_be_there_in_full() {
        fn check(environment: &[u8], expected: bool) {
            let family = BrokerProcesses::new(Path::new("/a"));
            assert_eq!(has_pair(environment, &family.marker), expected);
        }
        check(b"X=1\0RABBITSCOPE_BROKER=/a\0", true);
        check(b"RABBITSCOPE_BROKER=/ab\0", false);
        check(b"", false);
        assert!(!is_dead(std::process::id()));
        assert_eq!(fate(u32::MAX), "is gone");
    }

    /// Runs programs that replace one another all the time, as those that start a node do.
    #[test]
    fn a_process_whose_programs_change_still_belongs_to_the_broker() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join(BORN), ticks_now().unwrap().to_string()).unwrap();
        let script = directory.path().join("again.sh");
        fs::write(&script, "[ \"$1\" = 0 ] || exec sh \"$0\" $(($1 - 1))").unwrap();
        let mut command = std::process::Command::new("setsid");
        command.arg("sh").arg(&script).arg("1500").env("PADDING", "x".repeat(20_000));
        let mut child = command.env(MARKER, directory.path()).spawn().unwrap();
        let family = BrokerProcesses::new(directory.path());
        let mut looks = 0;
        while !is_dead(child.id()) {
            let belongs = family.has_eventually(child.id());
            assert!(belongs || is_dead(child.id()), "at look {looks}");
            looks += 1;
        }
        child.wait().unwrap();
        assert!(looks > 100, "{looks}");
    }

    #[test]
    fn what_is_older_than_the_directory_does_not_belong_to_it() {
        let directory = tempfile::tempdir().unwrap();
        let check = |born: u64, expected: bool| {
            fs::write(directory.path().join(BORN), born.to_string()).unwrap();
            let mut sleeping = std::process::Command::new("setsid");
            sleeping.args(["sleep", "60"]).env(MARKER, directory.path());
            let mut child = sleeping.spawn().unwrap();
            // A process whose program is being replaced shows no environment, so that `kill` would not recognise it.
            let name = || fs::read_to_string(format!("/proc/{}/comm", child.id())).unwrap();
            while name() != "sleep\n" {
                thread::sleep(Duration::from_millis(1));
            }
            let family = BrokerProcesses::new(directory.path());
            let belongs = family.has_eventually(child.id());
            family.kill(child.id());
            thread::sleep(Duration::from_millis(100));
            let has_ended = child.try_wait().unwrap().is_some();
            child.kill().unwrap();
            child.wait().unwrap();
            assert_eq!((belongs, has_ended), (expected, expected), "{born}");
        };
        let now = ticks_now().unwrap();
        check(now, true);
        check(now + 100_000, false);
    }
}
