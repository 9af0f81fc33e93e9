//! Errors of the live sources. Every message names the next step.

use std::io;

use thiserror::Error;

use crate::error::{ErrorKind, ProbeError};

/// Failures to observe packets, sockets or writes.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PacketError {
    /// The process has no right to packets.
    #[error(
        "missing CAP_NET_RAW: capture as root (sudo; in a container as its root with the capability NET_RAW). The \
         group for profiles may not capture, because packets contain messages and passwords; `sudo scripts/install.sh \
         --packets GROUP` permits it. Figures of sockets need no privilege"
    )]
    NoRightToCapture,
    /// The process may not enter another network.
    #[error(
        "process {pid} has its own network (a container), and access to it needs CAP_SYS_ADMIN: run as root (sudo), \
         run inside the container, or observe the host's end of its network on interface any"
    )]
    NoRightToEnter {
        /// A process in that network.
        pid: u32,
    },
    /// Too many ports, or none.
    #[error("{count} TCP ports given; give 1 to {most}")]
    PortCount {
        /// Number of ports in the request.
        count: usize,
        /// Largest possible number.
        most: usize,
    },
    /// Port 0.
    #[error("0 is not a valid TCP port; give 1 to 65535")]
    PortZero,
    /// The interface does not exist in that network.
    #[error("no network interface {name}; `ip link` lists them, and any selects all")]
    NoInterface {
        /// The request.
        name: String,
    },
    /// The interface was removed or switched off.
    #[error(
        "network interface {name} is down; capture on any, or enable it with `ip link set {name} up`"
    )]
    InterfaceDown {
        /// The request.
        name: String,
    },
    /// A ring size that the kernel would refuse.
    #[error("{what} {value} is not allowed; allowed are {allowed}")]
    RingSize {
        /// Name of the size.
        what: &'static str,
        /// The request.
        value: u64,
        /// Allowed values.
        allowed: &'static str,
    },
    /// The kernel has no means to count writes.
    #[error(
        "this kernel lacks tracepoint {tracepoint} (new in Linux 6.3; Debian 12 has 6.1) or types in /sys/kernel/btf; \
         sizes of packets and segments are still available"
    )]
    NoTracepoint {
        /// Name of the missing tracepoint.
        tracepoint: &'static str,
    },
    /// A message of the kernel could not be parsed.
    #[error("cannot decode a message of the kernel's socket diagnosis: {detail}; please report it")]
    SocketMessage {
        /// The defect.
        detail: &'static str,
    },
    /// Observing the node failed.
    #[error(transparent)]
    Probe(#[from] ProbeError),
    /// An operating-system call failed.
    #[error("{action}: {source}")]
    Io {
        /// The action that failed.
        action: String,
        /// The error of the system.
        source: io::Error,
    },
}

impl PacketError {
    /// The family of this error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NoRightToCapture | Self::NoRightToEnter { .. } => ErrorKind::Permission,
            Self::NoTracepoint { .. } => ErrorKind::Unsupported,
            Self::Probe(error) => error.kind(),
            Self::Io { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
                ErrorKind::Permission
            }
            _ => ErrorKind::Failed,
        }
    }

    /// Wraps the failure of `action`.
    pub(super) fn io<E: Into<io::Error>>(action: impl Into<String>) -> impl FnOnce(E) -> Self {
        let action = action.into();
        move |source| Self::Io { action, source: source.into() }
    }
}
