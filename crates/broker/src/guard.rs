//! The guard: a process that outlives rabbitscope just long enough to end the broker.
//!
//! It is a shell script (`guard.sh`), not a part of this program, so that every program that
//! uses this library, such as a test, has the same guard.

use std::{
    env,
    io::{self, BufRead, BufReader, Write},
    os::fd::OwnedFd,
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use command_fds::{CommandFdExt, FdMapping};

use crate::{
    BrokerError, Installation,
    directory::{DirectoryLock, Held, PlannedNode, Unlockable, search_path, write_private},
    processes::{BrokerProcesses, GUARD_MARKER},
    removal,
};

const SCRIPT: &str = include_str!("guard.sh");
/// Timeout of the guard's clean-up. The guard itself gives up after ten seconds, so that never two clean up at once.
const GUARD_TIMEOUT: Duration = Duration::from_secs(15);
/// Timeout of a clean-up by this process, after the node was killed.
const CLEANUP_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout of the lock of a broker of which no process can be seen.
const OUT_OF_SIGHT_TIMEOUT: Duration = Duration::from_secs(1);

/// What ends the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lifetime {
    /// The end of this process.
    Attached,
    /// `broker stop`.
    Detached,
}

/// The first descriptor that the guard inherits beyond the standard ones: far above those that a shell uses itself.
const FIRST_DESCRIPTOR: i32 = 64;

/// A running guard.
#[derive(Debug)]
pub(crate) struct Guard {
    child: Child,
    /// Lock and ports of the broker, here for as long as this process may start a node again.
    held: Option<Held>,
    /// Receives the pid of a node, each time that it is started.
    pids: BufReader<ChildStdout>,
}

impl Guard {
    /// Starts guard and nodes, which were prepared in `directory`. Returns the pids of the nodes as well, in their order.
    pub(crate) fn start(
        installation: &Installation,
        directory: &Path,
        nodes: &[PlannedNode],
        life: Lifetime,
        mut held: Held,
    ) -> Result<(Self, Vec<u32>), BrokerError> {
        let script = directory.join("guard.sh");
        write_private(&script, SCRIPT)?;
        let epmd_port = nodes.first().map_or(0, |node| node.ports.epmd);
        let starting = || BrokerError::io("start the guard of the broker in", directory);
        let inherited = mappings(held.descriptors().map_err(starting())?);
        held.ports.release_mapper();
        let in_cluster = nodes.iter().filter(|node| node.number.is_some()).count();
        // Another system has its own `erl`.
        let erl = if installation.root.is_some() { Path::new("erl") } else { &installation.erl };
        let mut command = Command::new("setsid");
        command
            .arg("sh")
            .arg(&script)
            .args([directory, &installation.server, &installation.epmd])
            .arg(epmd_port.to_string())
            .arg(if life == Lifetime::Attached { "attached" } else { "detached" })
            .arg(in_cluster.to_string())
            .arg(erl)
            .args(installation.root.iter().flat_map(|root| [root.clone(), env::temp_dir()]))
            .env_clear()
            .env("PATH", search_path())
            .env("LANG", "C.UTF-8")
            .env(GUARD_MARKER, directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let collides = "each descriptor has a number of its own";
        let mut child =
            command.fd_mappings(inherited).expect(collides).spawn().map_err(starting())?;
        let mut pids = BufReader::new(child.stdout.take().expect("standard output was piped"));
        let started: Result<Vec<u32>, Answer> = nodes.iter().map(|_| read_pid(&mut pids)).collect();
        let mut guard = Self { child, held: Some(held), pids };
        match started {
            Ok(pids) => Ok((guard, pids)),
            Err(answer) => {
                let error = answer.to_error(epmd_port);
                guard.stop(directory);
                Err(error)
            }
        }
    }

    /// From now on the broker outlives this process. Before this call a detached broker, too, ends with the process,
    /// so that a process that is killed while it starts a broker leaves none behind.
    pub(crate) fn stay(&mut self) -> io::Result<()> {
        self.child.stdin.take().map_or(Ok(()), |mut pipe| writeln!(pipe))
    }

    /// Starts a node again after its death; `number` as in [`PlannedNode`]. Returns its pid.
    pub(crate) fn start_again(&mut self, number: Option<u32>) -> Result<u32, BrokerError> {
        let number = number.unwrap_or(0);
        let ordered =
            self.child.stdin.as_mut().is_some_and(|pipe| writeln!(pipe, "{number}").is_ok());
        let pid = ordered.then(|| read_pid(&mut self.pids).ok()).flatten();
        let gone =
            || BrokerError::Died { log: "the guard did not start the node again".to_owned() };
        pid.ok_or_else(gone)
    }

    /// Closes the pipe and waits until broker and directory are gone.
    pub(crate) fn stop(&mut self, directory: &Path) {
        drop(self.child.stdin.take());
        let deadline = Instant::now() + GUARD_TIMEOUT;
        while Instant::now() < deadline {
            match self.child.try_wait() {
                Ok(None) => thread::sleep(Duration::from_millis(10)),
                Ok(Some(_)) | Err(_) => return,
            }
        }
        // Otherwise this process itself keeps the broker alive.
        self.held = None;
        // What cannot be removed now, the next start reports.
        let _ = end_by_force(directory);
    }
}

fn mappings(descriptors: Vec<OwnedFd>) -> Vec<FdMapping> {
    let numbers = FIRST_DESCRIPTOR..;
    let mapping = |(child_fd, parent_fd)| FdMapping { parent_fd, child_fd };
    numbers.zip(descriptors).map(mapping).collect()
}

/// The line of a guard that has not started a node: a word, and the log of what failed.
#[derive(Debug)]
struct Answer(String);

impl Answer {
    fn to_error(&self, epmd_port: u16) -> BrokerError {
        match self.0.split_once(' ').unwrap_or((&self.0, "")) {
            ("mapper", log) => BrokerError::NoMapper { port: epmd_port, log: log.to_owned() },
            ("compiler", log) => BrokerError::Died { log: log.to_owned() },
            _ => BrokerError::Died { log: "the guard did not start the node".to_owned() },
        }
    }
}

fn read_pid(pids: &mut impl BufRead) -> Result<u32, Answer> {
    let mut line = String::new();
    // A guard that has ended says nothing more.
    let _ = pids.read_line(&mut line);
    line.trim().parse().map_err(|_| Answer(line.trim().to_owned()))
}

/// Ends every process of the broker in `directory` and removes the directory, whatever became of its guard. A guard
/// that still runs cleans up as well; it is waited for, so that nothing of the broker is left. A directory whose lock
/// is held by a process that cannot be seen from here stays.
pub(crate) fn end_by_force(directory: &Path) -> Result<(), BrokerError> {
    let family = BrokerProcesses::of(directory);
    let guard = BrokerProcesses::guard_of(directory);
    let began = Instant::now();
    let mut is_in_sight = false;
    loop {
        let members = family.members();
        for &pid in &members {
            family.kill(pid);
        }
        is_in_sight |= !members.is_empty() || guard.is_named();
        let patience = if is_in_sight { CLEANUP_TIMEOUT } else { OUT_OF_SIGHT_TIMEOUT };
        let is_late = began.elapsed() > patience;
        if members.is_empty() || is_late {
            match remove_unlocked(directory) {
                // A process that is ending, or the guard that removes the directory as well.
                Err(error) if error.may_pass() && !is_late => {}
                Ok(()) if !is_late && guard.is_named() => {}
                removed => return removed,
            }
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// Removes a directory that no process has locked.
fn remove_unlocked(directory: &Path) -> Result<(), BrokerError> {
    let _lock = match DirectoryLock::take(directory) {
        Ok(lock) => Some(lock),
        // The directory is gone, or another version of this program has made it.
        Err(Unlockable::Missing) => None,
        Err(Unlockable::Held) => {
            return Err(BrokerError::OutOfSight { path: directory.to_owned() });
        }
        Err(Unlockable::Unknown(error)) => return Err(BrokerError::io("lock", directory)(error)),
    };
    removal::remove(directory)
}
