//! The guard: a process that outlives rabbitscope just long enough to end the broker.
//!
//! It is a shell script (`guard.sh`), not a part of this program, so that every program that uses this library, such as
//! a test, has the same guard.

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
/// Timeout of the guard's clean-up. The guard itself gives up after ten seconds, so that two clean-ups never overlap.
const GUARD_TIMEOUT: Duration = Duration::from_secs(15);
/// Timeout of a clean-up by this process, after it killed the node.
const CLEANUP_TIMEOUT: Duration = Duration::from_secs(10);

/// The event that ends the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lifetime {
    /// The end of this process.
    Attached,
    /// `broker stop`.
    Detached,
}

/// The first descriptor that the guard inherits beyond the standard ones. It is far above those that a shell uses
/// itself.
const FIRST_DESCRIPTOR: i32 = 64;

/// A running guard.
#[derive(Debug)]
pub(crate) struct Guard {
    child: Child,
    /// Lock and ports of the broker, held while this process may restart a node.
    held: Option<Held>,
    /// Receives a node's pid at each start.
    pids: BufReader<ChildStdout>,
}

impl Guard {
    /// Starts the guard and the nodes that were prepared in `directory`. Also returns the nodes' pids, in their order.
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
        // Another system uses its own `erl`.
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

    /// Lets the broker outlive this process from now on. Until then even a detached broker ends with the process, so
    /// that a process that is killed during a start leaves no broker behind.
    pub(crate) fn stay(&mut self) -> io::Result<()> {
        self.child.stdin.take().map_or(Ok(()), |mut pipe| writeln!(pipe))
    }

    /// Restarts a node after its death and returns its pid. `number` is that of [`PlannedNode`].
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
        // The descriptors of this process would keep the lock held.
        self.held = None;
        // The next start reports a directory that cannot be removed.
        let _ = end_by_force(directory);
    }
}

fn mappings(descriptors: Vec<OwnedFd>) -> Vec<FdMapping> {
    let numbers = FIRST_DESCRIPTOR..;
    let mapping = |(child_fd, parent_fd)| FdMapping { parent_fd, child_fd };
    numbers.zip(descriptors).map(mapping).collect()
}

/// The guard's line when a node did not start: a word, and the log of the failed step.
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
    // A guard that has ended writes nothing more.
    let _ = pids.read_line(&mut line);
    line.trim().parse().map_err(|_| Answer(line.trim().to_owned()))
}

/// Ends every process of the broker in `directory` and removes the directory, with or without a live guard. A live
/// guard cleans up as well; this function waits for it, so that nothing of the broker is left. A directory stays if an
/// invisible process holds its lock.
pub(crate) fn end_by_force(directory: &Path) -> Result<(), BrokerError> {
    let family = BrokerProcesses::new(directory);
    let guard = BrokerProcesses::guard_of(directory);
    let began = Instant::now();
    loop {
        let members = family.members();
        for &pid in &members {
            family.kill(pid);
        }
        let is_late = began.elapsed() > CLEANUP_TIMEOUT;
        if members.is_empty() || is_late {
            match remove_unlocked(directory) {
                // A process is ending, or the guard removes the directory as well.
                Err(error) if error.may_pass() && !is_late => {}
                Ok(()) if !is_late && guard.is_named() => {}
                removed => return removed,
            }
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// Removes a directory that no process holds locked.
fn remove_unlocked(directory: &Path) -> Result<(), BrokerError> {
    let _lock = match DirectoryLock::take(directory) {
        Ok(lock) => Some(lock),
        // The directory is gone, or another version of this program made it.
        Err(Unlockable::Missing) => None,
        Err(Unlockable::Held) => {
            return Err(BrokerError::OutOfSight { path: directory.to_owned() });
        }
        Err(Unlockable::Unknown(error)) => return Err(BrokerError::io("lock", directory)(error)),
    };
    removal::remove(directory)
}
