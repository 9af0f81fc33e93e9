//! Errors of a listener.

use std::{io, net::SocketAddr};

use thiserror::Error;

/// Reason why a server cannot listen at an address.
#[derive(Debug, Error)]
pub enum ListenError {
    /// The options do not allow listening.
    #[error("{0}")]
    Usage(String),
    /// The system refuses to bind the address.
    #[error("cannot listen on {address}")]
    Address {
        /// The address.
        address: SocketAddr,
        /// Error of the system.
        source: io::Error,
    },
}
