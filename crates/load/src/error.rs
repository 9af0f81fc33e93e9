//! Errors that prevent the start of a load.
//!
//! A load that has started ends with an outcome instead of an error. The outcome keeps the recorded data, and its
//! verdict has the reason for the end.

use std::io;

use rabbitscope_topology::TopologyError;
use thiserror::Error;

/// Reason why a load could not start. Every message names the next step.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The broker could not be reached or prepared.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// The names of the planned declarations could not be recorded.
    #[error("nothing was declared on the broker: {source}")]
    NotRemembered {
        /// The cause.
        source: io::Error,
    },
    /// The log of a run belongs to a different scenario.
    #[error(
        "the log of the run says that it declared {what}, which this scenario does not: the log is damaged, or \
         another user wrote it. Omit --resume to discard the log"
    )]
    ForeignClaim {
        /// Description: "queue `q`".
        what: String,
    },
    /// A file that the scenario sends cannot be read.
    #[error("cannot read the file {path} that the scenario sends: {source}")]
    BodyFile {
        /// The path, as written in the scenario.
        path: String,
        /// The cause.
        source: io::Error,
    },
    /// A scenario from another user sends a file, without consent.
    #[error("the scenario sends {path}, but this machine's files are sent only with consent")]
    NoFiles {
        /// The path, as written in the scenario.
        path: String,
    },
    /// The load needs more connections than this process may have file descriptors.
    #[error(
        "{needed} connections need as many open files, but the limit is {limit}: raise it (`ulimit -Hn`), or use more \
         channels on fewer connections"
    )]
    TooManyConnections {
        /// Connections that the scenario needs.
        needed: usize,
        /// `RLIMIT_NOFILE`.
        limit: u64,
    },
    /// The load was stopped before it began.
    #[error("stopped while connecting")]
    Stopped,
    /// This machine refused a resource, such as descriptors or threads.
    #[error("cannot {doing}: {source}")]
    System {
        /// The attempted operation.
        doing: &'static str,
        /// The cause.
        source: io::Error,
    },
}

impl LoadError {
    /// Returns whether no broker was reached at all: the program's exit code 5.
    pub fn is_unreachable(&self) -> bool {
        matches!(self, Self::Topology(error) if error.is_unreachable())
    }

    /// Returns whether the scenario's settings cannot be used: the program's exit code 2.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Topology(error) => error.is_usage(),
            Self::BodyFile { .. } => true,
            _ => false,
        }
    }
}
