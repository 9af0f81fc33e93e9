//! Errors between the program and the node.

use std::{io, path::PathBuf, time::Duration};

use crate::term::TermError;

/// The kind of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The request is impossible.
    Usage,
    /// The node does not run, does not admit the program, or went away.
    Unreachable,
    /// The node runs, and something else failed.
    Failed,
}

/// A failure to reach or to ask a node.
#[derive(Debug, thiserror::Error)]
pub enum ErlangError {
    /// The text is not a node name.
    #[error("`{name}` is not the name of a node: {reason}")]
    Name {
        /// The given text.
        name: String,
        /// The form of a name.
        reason: &'static str,
    },
    /// None of the usual places has a cookie.
    #[error("no cookie found in {looked}; give its file with --cookie-file")]
    NoCookie {
        /// The places, each with the reason why it has no cookie.
        looked: String,
    },
    /// The cookie's file cannot be read.
    #[error("cannot read the cookie in {}: {source}", path.display())]
    CookieFile {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The node's network cannot be entered.
    #[error("cannot enter the network of {node}: {reason}")]
    NoNetwork {
        /// The node.
        node: String,
        /// The system's error, and the next step.
        reason: String,
    },
    /// The host has no address.
    #[error("the host of {node} cannot be resolved: {reason}")]
    Unresolvable {
        /// The node.
        node: String,
        /// The resolver's error.
        reason: String,
    },
    /// No port mapper answers.
    #[error("no Erlang port mapper (epmd) answers at {address}: {reason}")]
    NoPortMapper {
        /// Host and port.
        address: String,
        /// The system's error.
        reason: String,
    },
    /// The port mapper does not know the node.
    #[error("the port mapper at {address} knows no node `{name}`; it knows: {known}")]
    UnknownNode {
        /// Host and port.
        address: String,
        /// The node's name without host.
        name: String,
        /// The names that it knows, or `none`.
        known: String,
    },
    /// The node's own port does not accept connections.
    #[error("node {node} does not accept connections at {address}: {reason}")]
    Refused {
        /// The node.
        node: String,
        /// Host and port.
        address: String,
        /// The system's error.
        reason: String,
    },
    /// The node speaks another version of the protocol.
    #[error("node {node} speaks another version of the distribution protocol: {reason}")]
    Version {
        /// The node.
        node: String,
        /// The difference.
        reason: String,
    },
    /// The node refuses the cookie.
    #[error(
        "node {node} refuses the cookie from {origin}; give the node's cookie with --cookie-file (usually \
         /var/lib/rabbitmq/.erlang.cookie)"
    )]
    CookieRefused {
        /// The node.
        node: String,
        /// The origin of the cookie.
        origin: String,
    },
    /// The peer could not prove that it knows the cookie.
    #[error("the server that answers for node {node} does not know the cookie from {origin}")]
    Unproven {
        /// The node.
        node: String,
        /// The origin of the cookie.
        origin: String,
    },
    /// The peer may not be the node.
    #[error(
        "no proof of the cookie was sent to the server that answers for node {node}, because it could misuse the \
         proof: {reason}"
    )]
    Impostor {
        /// The node.
        node: String,
        /// The doubt, and the next step.
        reason: String,
    },
    /// The node already has a connection under the drawn name.
    #[error("node {node} already has a connection from our name; try again")]
    NameTaken {
        /// The node.
        node: String,
    },
    /// The node does not admit the program.
    #[error("node {node} does not allow the connection: {reason}")]
    NotAllowed {
        /// The node.
        node: String,
        /// The node's answer.
        reason: String,
    },
    /// A file for TLS is missing, cannot be read or does not hold what it should.
    #[error("{reason}")]
    TlsFiles {
        /// The file and its fault.
        reason: String,
    },
    /// TLS failed: certificate or handshake.
    #[error("TLS to node {node}: {reason}")]
    Tls {
        /// The node.
        node: String,
        /// The failure.
        reason: String,
    },
    /// The handshake broke off.
    #[error("node {node} ended the connection while {doing}: {reason}")]
    Handshake {
        /// The node.
        node: String,
        /// The step.
        doing: &'static str,
        /// The failure.
        reason: String,
    },
    /// The connection is gone.
    #[error("the connection to node {node} is lost: {reason}")]
    Lost {
        /// The node.
        node: String,
        /// The cause.
        reason: String,
    },
    /// The node did not answer in time.
    #[error("node {node} gave no answer to {asked} within {:.1} s", within.as_secs_f64())]
    NoAnswer {
        /// The node.
        node: String,
        /// The call or request.
        asked: String,
        /// The timeout.
        within: Duration,
    },
    /// A function that was called on the node failed.
    #[error("{function} failed on node {node}: {reason}")]
    Remote {
        /// The node.
        node: String,
        /// The function, as `module:function/arity`.
        function: String,
        /// The reason that the node gave, shortened.
        reason: String,
    },
    /// More bytes arrived than a mailbox keeps.
    #[error("node {node} sent more than {limit_mib} MiB of unread messages")]
    TooMuch {
        /// The node.
        node: String,
        /// The limit.
        limit_mib: usize,
    },
    /// An answer is malformed.
    #[error("cannot decode the answer of node {node}: {source}")]
    Term {
        /// The node.
        node: String,
        /// The defect.
        source: TermError,
    },
    /// A module could not be loaded into the node.
    #[error("node {node} does not load {module}: {reason}")]
    Load {
        /// The node.
        node: String,
        /// The module.
        module: String,
        /// The node's answer.
        reason: String,
    },
    /// The node has a foreign module with the drawn name, which stays untouched.
    #[error("node {node} has a foreign module {module}, which stays unchanged; try again")]
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
        /// The cause.
        reason: String,
    },
    /// The agent refused, or could not continue.
    #[error("{text}")]
    Agent {
        /// The node.
        node: String,
        /// The error's name, for the program.
        kind: String,
        /// The error's text, for people.
        text: String,
    },
    /// An answer has an unexpected shape.
    #[error("cannot decode the answer to {asked}: {got}")]
    Unexpected {
        /// The call or request.
        asked: &'static str,
        /// The answer, shortened.
        got: String,
    },
}

impl ErlangError {
    /// Returns the kind of the failure.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Name { .. } | Self::CookieFile { .. } | Self::TlsFiles { .. } => ErrorKind::Usage,
            Self::Agent { kind, .. } if REFUSED_VALUES.contains(&kind.as_str()) => ErrorKind::Usage,
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

    /// Returns true for a cause that stays, such as a wrong cookie. The node would log each further attempt.
    pub fn is_lasting(&self) -> bool {
        matches!(
            self,
            Self::CookieFile { .. }
                | Self::NoCookie { .. }
                | Self::CookieRefused { .. }
                | Self::Unproven { .. }
        )
    }

    /// Makes the error for an answer with an unexpected shape.
    pub fn unexpected(asked: &'static str, got: &crate::Term) -> Self {
        Self::Unexpected { asked, got: shortened(&got.to_string()) }
    }
}

/// The agent's refusals of a value that no node takes: a pattern, or a role.
const REFUSED_VALUES: [&str; 2] = ["bad_pattern", "no_such_role"];

/// Shortens a text to one line for a message.
pub(crate) fn shortened(text: &str) -> String {
    const MAX: usize = 300;
    let line = text.replace('\n', " ");
    match line.char_indices().nth(MAX) {
        Some((end, _)) => format!("{} …", &line[..end]),
        None => line,
    }
}
