//! Everything that can go wrong between here and the node.

use std::{io, path::PathBuf, time::Duration};

use crate::term::TermError;

/// Which kind of failure it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// What was asked for cannot be.
    Usage,
    /// The node is not there, does not let us in or went away.
    Unreachable,
    /// The node is there and something else failed.
    Failed,
}

/// Why a node could not be reached or asked.
#[derive(Debug, thiserror::Error)]
pub enum ErlangError {
    /// Not a node name.
    #[error("`{name}` is not the name of a node: {reason}")]
    Name {
        /// What was given.
        name: String,
        /// What a name is like.
        reason: &'static str,
    },
    /// No cookie in any of the usual places.
    #[error("no cookie found in {looked}; name its file with --cookie-file")]
    NoCookie {
        /// Where was looked, and why it was not there.
        looked: String,
    },
    /// The cookie's file cannot be read.
    #[error("cannot read the cookie in {}: {source}", path.display())]
    CookieFile {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The host has no address.
    #[error("the host of {node} cannot be resolved: {reason}")]
    Unresolvable {
        /// The node.
        node: String,
        /// What the resolver said.
        reason: String,
    },
    /// Nobody answers as a port mapper.
    #[error("no Erlang port mapper (epmd) answers at {address}: {reason}")]
    NoPortMapper {
        /// Host and port.
        address: String,
        /// What the system said.
        reason: String,
    },
    /// The port mapper does not know the node.
    #[error("the port mapper at {address} knows no node `{name}`; it knows: {known}")]
    UnknownNode {
        /// Host and port.
        address: String,
        /// Name without host.
        name: String,
        /// Names that it knows, or `none`.
        known: String,
    },
    /// The node's own port does not accept.
    #[error("node {node} does not accept connections at {address}: {reason}")]
    Refused {
        /// The node.
        node: String,
        /// Host and port.
        address: String,
        /// What the system said.
        reason: String,
    },
    /// Another version of the protocol.
    #[error("node {node} speaks another version of the distribution protocol: {reason}")]
    Version {
        /// The node.
        node: String,
        /// What differs.
        reason: String,
    },
    /// The node does not accept the cookie.
    #[error(
        "node {node} refuses the cookie from {origin}; --cookie-file names the file of the node's own \
         (/var/lib/rabbitmq/.erlang.cookie as a rule)"
    )]
    CookieRefused {
        /// The node.
        node: String,
        /// Where the cookie came from.
        origin: String,
    },
    /// The peer could not prove that it knows the cookie.
    #[error("what answers for node {node} does not know the cookie from {origin}")]
    Unproven {
        /// The node.
        node: String,
        /// Where the cookie came from.
        origin: String,
    },
    /// What answers may not be the node.
    #[error(
        "nothing was proven to what answers for node {node}, lest it use that against the real one: \
         {reason}"
    )]
    Impostor {
        /// The node.
        node: String,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// The node has a connection from somebody else who goes by the same name.
    #[error("node {node} already has a connection from our name; try again")]
    NameTaken {
        /// The node.
        node: String,
    },
    /// The node does not allow us.
    #[error("node {node} does not allow the connection: {reason}")]
    NotAllowed {
        /// The node.
        node: String,
        /// What it said.
        reason: String,
    },
    /// TLS files, certificate or handshake.
    #[error("TLS to node {node}: {reason}")]
    Tls {
        /// The node.
        node: String,
        /// What is wrong.
        reason: String,
    },
    /// The handshake did not come to an end.
    #[error("node {node} broke off while {doing}: {reason}")]
    Handshake {
        /// The node.
        node: String,
        /// Which step.
        doing: &'static str,
        /// What happened.
        reason: String,
    },
    /// The connection is gone.
    #[error("the connection to node {node} is lost: {reason}")]
    Lost {
        /// The node.
        node: String,
        /// Why.
        reason: String,
    },
    /// No answer in time.
    #[error("node {node} gave no answer to {asked} within {:.1} s", within.as_secs_f64())]
    NoAnswer {
        /// The node.
        node: String,
        /// What was asked.
        asked: String,
        /// How long was waited.
        within: Duration,
    },
    /// The function called on the node failed.
    #[error("{function} failed on node {node}: {reason}")]
    Remote {
        /// The node.
        node: String,
        /// `module:function/arity`.
        function: String,
        /// The reason that the node gave, shortened.
        reason: String,
    },
    /// More has arrived than is kept.
    #[error("node {node} sent more than {limit_mib} MiB that nobody has read")]
    TooMuch {
        /// The node.
        node: String,
        /// The limit.
        limit_mib: usize,
    },
    /// An answer is not what it should be.
    #[error("the answer of node {node} is not understood: {source}")]
    Term {
        /// The node.
        node: String,
        /// What is wrong with it.
        source: TermError,
    },
    /// A module could not be loaded into the node.
    #[error("node {node} does not load {module}: {reason}")]
    Load {
        /// The node.
        node: String,
        /// The module.
        module: String,
        /// What the node said.
        reason: String,
    },
    /// The node has a module of a name that was drawn for ours; it was left alone.
    #[error("node {node} has a module {module} that is not ours, and it was left alone; try again")]
    ModuleTaken {
        /// The node.
        node: String,
        /// The module.
        module: String,
    },
    /// The agent ended before its work did.
    #[error("the agent on node {node} has ended: {reason}")]
    AgentGone {
        /// The node.
        node: String,
        /// Why.
        reason: String,
    },
    /// The agent refuses or could not go on.
    #[error("{text}")]
    Agent {
        /// The node.
        node: String,
        /// Which error, for the program.
        kind: String,
        /// Which error, for people.
        text: String,
    },
    /// An answer has another shape than expected.
    #[error("the answer to {asked} is not understood: {got}")]
    Unexpected {
        /// What was asked.
        asked: &'static str,
        /// What came, shortened.
        got: String,
    },
}

impl ErlangError {
    /// Which kind of failure it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Name { .. } => ErrorKind::Usage,
            Self::NoAnswer { .. }
            | Self::Remote { .. }
            | Self::TooMuch { .. }
            | Self::Term { .. }
            | Self::Load { .. }
            | Self::ModuleTaken { .. }
            | Self::AgentGone { .. }
            | Self::Agent { .. }
            | Self::Unexpected { .. } => ErrorKind::Failed,
            _ => ErrorKind::Unreachable,
        }
    }

    /// An answer that has another shape than expected.
    pub fn unexpected(asked: &'static str, got: &crate::Term) -> Self {
        Self::Unexpected { asked, got: shortened(&got.to_string()) }
    }
}

/// A line that fits into a message for people.
pub(crate) fn shortened(text: &str) -> String {
    const MAX: usize = 300;
    let line = text.replace('\n', " ");
    match line.char_indices().nth(MAX) {
        Some((end, _)) => format!("{} …", &line[..end]),
        None => line,
    }
}
