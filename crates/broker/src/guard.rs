//! The process that outlives rabbitscope just long enough to end the broker.
//!
//! It is a shell script (`guard.sh`) and not a part of this program, so that every program that
//! uses this library, such as a test, has the same guard.

use std::{
    env, fs,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::{BrokerError, Installation, processes};

const SCRIPT: &str = include_str!("guard.sh");
const PATIENCE: Duration = Duration::from_secs(10);

/// What decides when the node ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    /// The end of this process.
    Attached,
    /// `broker stop`.
    Detached,
}

/// A running guard.
#[derive(Debug)]
pub(crate) struct Guard {
    child: Child,
    /// Says the pid of the node, each time it is started.
    pids: BufReader<ChildStdout>,
    /// Pid of the node that it guards.
    pub(crate) node_pid: u32,
}

impl Guard {
    /// Starts guard and node. `environment` is all that the node gets to see.
    pub(crate) fn start(
        installation: &Installation,
        directory: &Path,
        epmd_port: u16,
        environment: &[(String, String)],
        life: Life,
    ) -> Result<Self, BrokerError> {
        let script = directory.join("guard.sh");
        fs::write(&script, SCRIPT).map_err(BrokerError::io("write", &script))?;
        let mut child = Command::new("setsid")
            .arg("sh")
            .arg(&script)
            .args([directory, &installation.server, &installation.epmd])
            .arg(epmd_port.to_string())
            .arg(if life == Life::Attached { "attached" } else { "detached" })
            .args(installation.root.iter().flat_map(|root| [root.clone(), env::temp_dir()]))
            .env_clear()
            .envs(environment.iter().map(|(name, value)| (name, value)))
            .stdin(if life == Life::Attached { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(BrokerError::io("start the guard of the broker in", directory))?;
        let mut pids = BufReader::new(child.stdout.take().expect("standard output was piped"));
        match read_pid(&mut pids) {
            Some(node_pid) => Ok(Self { child, pids, node_pid }),
            None => Err(BrokerError::Died { log: "the guard did not start the node".to_owned() }),
        }
    }

    /// Starts the node again, which has died.
    pub(crate) fn start_again(&mut self) -> Result<u32, BrokerError> {
        let ordered = self.child.stdin.as_mut().is_some_and(|pipe| writeln!(pipe).is_ok());
        let pid = ordered.then(|| read_pid(&mut self.pids)).flatten();
        let gone =
            || BrokerError::Died { log: "the guard did not start the node again".to_owned() };
        self.node_pid = pid.ok_or_else(gone)?;
        Ok(self.node_pid)
    }

    /// Closes the pipe and waits until broker and directory are gone.
    pub(crate) fn stop(&mut self, directory: &Path) {
        drop(self.child.stdin.take());
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            match self.child.try_wait() {
                Ok(None) => thread::sleep(Duration::from_millis(10)),
                Ok(Some(_)) | Err(_) => return,
            }
        }
        end_by_force(directory);
    }
}

fn read_pid(pids: &mut impl BufRead) -> Option<u32> {
    let mut line = String::new();
    pids.read_line(&mut line).ok()?;
    line.trim().parse().ok()
}

/// Ends every process of the broker in `directory` and removes the directory. For a broker whose
/// guard is gone or does not answer.
pub(crate) fn end_by_force(directory: &Path) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let pids = processes::of(directory);
        if pids.is_empty() || Instant::now() > deadline {
            break;
        }
        for pid in pids {
            kill(pid);
        }
        thread::sleep(Duration::from_millis(10));
    }
    let _ = fs::remove_dir_all(directory);
}

/// Sends SIGKILL. A process that is already gone is what was wanted.
pub(crate) fn kill(pid: u32) {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    if let Some(pid) = pid {
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
}
