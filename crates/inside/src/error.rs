//! Why a node cannot be looked into.

use std::io;

use rabbitscope_erlang::ErlangError;
use rabbitscope_probe::ProbeError;
use thiserror::Error;

/// Why a node cannot be looked into.
#[derive(Debug, Error)]
pub enum InsideError {
    /// The node or the connection to it.
    #[error(transparent)]
    Erlang(#[from] ErlangError),
    /// The processes of this machine.
    #[error(transparent)]
    Probe(#[from] ProbeError),
    /// Its command line has no name.
    #[error("the node's name cannot be told")]
    Nameless,
    /// Its queues cannot be read.
    #[error("{0}")]
    Reading(String),
    /// What was read cannot be served.
    #[error("cannot serve what was read")]
    Server(#[source] io::Error),
}
