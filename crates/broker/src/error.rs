//! Errors of throwaway brokers.

use std::{io, path::PathBuf, time::Duration};

/// A failure to start, find, ask or stop a throwaway broker.
#[derive(Debug, thiserror::Error)]
pub enum BrokerError {
    /// A program of the distribution is missing.
    #[error(
        "{program} is not installed (Debian and Ubuntu: apt-get install {package}; \
         `scripts/setup.sh` does it without starting a system-wide broker)"
    )]
    NotInstalled {
        /// The program.
        program: &'static str,
        /// The package that contains it.
        package: &'static str,
    },
    /// The operating system refused an operation.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The operation, as a verb.
        action: &'static str,
        /// The path.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A directory that must be private is open to others.
    #[error("{} belongs to another user or is open to others; remove it or set TMPDIR", path.display())]
    NotPrivate {
        /// The directory.
        path: PathBuf,
    },
    /// A broker's processes are invisible to this process.
    #[error(
        "{} belongs to a broker outside the view of this process, such as in another container or pid namespace; use \
         `broker stop` there",
        path.display()
    )]
    OutOfSight {
        /// The directory.
        path: PathBuf,
    },
    /// A directory that another machine or another version of this program made.
    #[error(
        "{} stays, because its broker may still run ({reason}); remove it by hand if the broker is dead",
        path.display()
    )]
    Unproven {
        /// The directory.
        path: PathBuf,
        /// The missing proof.
        reason: &'static str,
    },
    /// Other users have taken every port.
    #[error(
        "no port of 127.0.0.1 from {first} to {last} is free for a throwaway broker; listeners there: {holders}"
    )]
    NoFreePort {
        /// The first port that was tried.
        first: u16,
        /// The last port that was tried.
        last: u16,
        /// Counts of listeners by user.
        holders: String,
    },
    /// The port mapper does not listen.
    #[error(
        "the port mapper of the broker did not start on port {port}, perhaps because another user took the port: {log}"
    )]
    NoMapper {
        /// Its port.
        port: u16,
        /// Its output.
        log: String,
    },
    /// Something is mounted in a directory that should be removed.
    #[error(
        "cannot remove {}: a file system is mounted at {place}; unmount it first",
        path.display()
    )]
    Mounted {
        /// The directory.
        path: PathBuf,
        /// The mount point.
        place: String,
    },
    /// Other machines could reach the node.
    #[error(
        "the throwaway broker was stopped, because other machines could reach it at {addresses}; set that listener to \
         127.0.0.1 in the broker's `config` or `advanced-config`, as in `mqtt.listeners.ssl.1 = 127.0.0.1:8883`, or \
         omit its plugin"
    )]
    Exposed {
        /// Addresses and ports.
        addresses: String,
    },
    /// The node ended while it booted.
    #[error("the broker ended while it was starting; from its log:\n{log}")]
    Died {
        /// Excerpt of its log.
        log: String,
    },
    /// The node did not become ready.
    #[error("the broker was not ready after {} s; from its log:\n{log}", waited.as_secs())]
    NotReady {
        /// The timeout.
        waited: Duration,
        /// Excerpt of its log.
        log: String,
    },
    /// The nodes did not become one cluster.
    #[error(
        "the nodes did not form a cluster within {} s: {node} sees {seen} of {nodes} running; from its log:\n{log}",
        waited.as_secs()
    )]
    NotClustered {
        /// The timeout.
        waited: Duration,
        /// A node that does not see all others.
        node: String,
        /// The number of members that it sees.
        seen: String,
        /// The number of nodes of the cluster.
        nodes: usize,
        /// Excerpt of its log.
        log: String,
    },
    /// A fault could not be injected or undone.
    #[error("{node} {what}")]
    Fault {
        /// The node's name.
        node: String,
        /// The failure, as the predicate of a sentence about the node.
        what: String,
    },
    /// An expression could not be evaluated on the node.
    #[error("the node did not evaluate `{expression}`: {answer}")]
    Eval {
        /// The expression.
        expression: String,
        /// The answer.
        answer: String,
    },
    /// A function or a module could not replace the broker's.
    #[error("{} cannot replace the broker's code: {reason}", file.display())]
    Patch {
        /// The file, as the specification names it.
        file: PathBuf,
        /// The node's reason, with file and line if known.
        reason: String,
    },
    /// A broker with definitions to load has no default user, and refused one for the load.
    #[error("the broker has no user for the load, and cannot add one: {reason}")]
    User {
        /// The broker's reason.
        reason: String,
    },
    /// The broker refused a policy.
    #[error("the broker refused the policy {name}: {reason}")]
    Policy {
        /// Its name.
        name: String,
        /// The broker's reason.
        reason: String,
    },
    /// The broker refused a runtime parameter.
    #[error("the broker refused the parameter {name} of {component}: {reason}")]
    Parameter {
        /// The parameter's component.
        component: String,
        /// Its name.
        name: String,
        /// The broker's reason.
        reason: String,
    },
    /// The specification sets a variable that rabbitscope sets itself.
    #[error(
        "the variable {name} cannot be in the broker's `environment`: it isolates the broker from others"
    )]
    Reserved {
        /// The variable.
        name: String,
    },
    /// The other system's root directory has no RabbitMQ.
    #[error(
        "there is no RabbitMQ below {}: `root` must be the root directory of a system with RabbitMQ, for example from \
         debootstrap",
        root.display()
    )]
    NoInstallation {
        /// The directory.
        root: PathBuf,
    },
    /// A file or directory that the specification names cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The installation does not have a plugin.
    #[error("there is no plugin `{name}` in {places}{hint}")]
    NoPlugin {
        /// The name that the specification gives.
        name: String,
        /// The directories that were searched.
        places: String,
        /// A similar name, or nothing.
        hint: String,
    },
    /// Only root can enter another system's root directory.
    #[error("only root can enter the broker's `root` {}: run rabbitscope as root", root.display())]
    RootNeeded {
        /// The directory.
        root: PathBuf,
    },
    /// No running broker has that name.
    #[error("no throwaway broker is called `{name}`; running: {running}")]
    Unknown {
        /// The name that the caller gave.
        name: String,
        /// The existing names, or `none`.
        running: String,
    },
}

impl BrokerError {
    /// Returns whether the cause may pass: another process that is ending, or that removes the same directory.
    pub(crate) fn may_pass(&self) -> bool {
        use io::ErrorKind::{DirectoryNotEmpty, NotFound};
        match self {
            Self::Io { source, .. } => [DirectoryNotEmpty, NotFound].contains(&source.kind()),
            Self::OutOfSight { .. } => true,
            _ => false,
        }
    }

    /// Wraps an [`io::Error`] with the operation and its path.
    pub(crate) fn io(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, path, source }
    }
}
