//! Errors that prevent the observation of a node from inside.

use std::io;

use rabbitscope_erlang::ErlangError;
use rabbitscope_probe::ProbeError;
use thiserror::Error;

/// Reason why a node cannot be observed from inside.
#[derive(Debug, Error)]
pub enum InsideError {
    /// The node or the connection to it failed.
    #[error(transparent)]
    Erlang(#[from] ErlangError),
    /// The processes of this machine cannot be listed.
    #[error(transparent)]
    Probe(#[from] ProbeError),
    /// The command line of the node's process has no node name.
    #[error("the node's name is unknown")]
    Nameless,
    /// The node's queues cannot be read.
    #[error("{0}")]
    Reading(String),
    /// The HTTP server cannot be started.
    #[error("cannot serve the figures")]
    Server(#[source] io::Error),
}
