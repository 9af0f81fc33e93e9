//! Failures of a question to the kernel.

use std::io;

/// A question to the kernel that has no whole answer.
#[derive(Debug, thiserror::Error)]
pub enum DiagnosisError {
    /// There is no netlink socket for this.
    #[error("opening a socket for socket diagnosis: {0}")]
    Open(#[source] io::Error),
    /// The kernel took no request.
    #[error("asking the kernel for sockets: {0}")]
    Ask(#[source] io::Error),
    /// The kernel refused the request, as one without the module `tcp_diag` does.
    #[error(
        "asking the kernel for sockets; it needs the module tcp_diag (`modprobe tcp_diag`): {0}"
    )]
    Refused(#[source] io::Error),
    /// The answer could not be read, or did not come.
    #[error("reading the kernel's description of sockets: {0}")]
    Read(#[source] io::Error),
    /// A message of the answer could not be parsed.
    #[error("cannot decode a message of the kernel's socket diagnosis: {0}")]
    Message(&'static str),
}
