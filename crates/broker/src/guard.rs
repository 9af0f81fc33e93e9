//! The guard: a process that outlives rabbitscope just long enough to end the broker.
//!
//! It is a shell script (`guard.sh`), not a part of this program, so that every program that
//! uses this library, such as a test, has the same guard.

use std::{
    env,
    io::{self, BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::{
    BrokerError, Installation,
    directory::{PlannedNode, search_path, write_private},
    processes::{BrokerProcesses, GUARD_MARKER},
    removal,
};

const SCRIPT: &str = include_str!("guard.sh");
/// Timeout of the guard's clean-up. The guard itself gives up after ten seconds, so that never two clean up at once.
const GUARD_TIMEOUT: Duration = Duration::from_secs(15);
/// Timeout of a clean-up by this process, after the node was killed.
const CLEANUP_TIMEOUT: Duration = Duration::from_secs(10);

/// What ends the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lifetime {
    /// The end of this process.
    Attached,
    /// `broker stop`.
    Detached,
}

/// A running guard.
#[derive(Debug)]
pub(crate) struct Guard {
    child: Child,
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
    ) -> Result<(Self, Vec<u32>), BrokerError> {
        let script = directory.join("guard.sh");
        write_private(&script, SCRIPT)?;
        let epmd_port = nodes.first().map_or(0, |node| node.ports.epmd);
        let in_cluster = nodes.iter().filter(|node| node.number.is_some()).count();
        let mut child = Command::new("setsid")
            .arg("sh")
            .arg(&script)
            .args([directory, &installation.server, &installation.epmd])
            .arg(epmd_port.to_string())
            .arg(if life == Lifetime::Attached { "attached" } else { "detached" })
            .arg(in_cluster.to_string())
            .args(installation.root.iter().flat_map(|root| [root.clone(), env::temp_dir()]))
            .env_clear()
            .env("PATH", search_path())
            .env("LANG", "C.UTF-8")
            .env(GUARD_MARKER, directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(BrokerError::io("start the guard of the broker in", directory))?;
        let mut pids = BufReader::new(child.stdout.take().expect("standard output was piped"));
        let started: Option<Vec<u32>> = nodes.iter().map(|_| read_pid(&mut pids)).collect();
        let gone = || BrokerError::Died { log: "the guard did not start the node".to_owned() };
        Ok((Self { child, pids }, started.ok_or_else(gone)?))
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
        let pid = ordered.then(|| read_pid(&mut self.pids)).flatten();
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
        // What cannot be removed now, the next start speaks of.
        let _ = end_by_force(directory);
    }
}

fn read_pid(pids: &mut impl BufRead) -> Option<u32> {
    let mut line = String::new();
    pids.read_line(&mut line).ok()?;
    line.trim().parse().ok()
}

/// Ends every process of the broker in `directory` and removes the directory, whatever became of its guard. A guard
/// that is there cleans up as well; it is waited for, so that nothing of the broker is left.
pub(crate) fn end_by_force(directory: &Path) -> Result<(), BrokerError> {
    let family = BrokerProcesses::of(directory);
    let guard = BrokerProcesses::guard_of(directory);
    let deadline = Instant::now() + CLEANUP_TIMEOUT;
    loop {
        let members = family.members();
        for &pid in &members {
            family.kill(pid);
        }
        let is_late = Instant::now() > deadline;
        if members.is_empty() || is_late {
            match removal::remove(directory) {
                // Something, such as the guard, is in there as well.
                Err(error) if error.may_pass() && !is_late => {}
                Ok(()) if !is_late && guard.is_named() => {}
                removed => return removed,
            }
        }
        thread::sleep(Duration::from_millis(10));
    }
}
