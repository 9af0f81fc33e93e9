//! Why nothing can listen at an address.

use std::{io, net::SocketAddr};

use thiserror::Error;

/// Why nothing can listen at an address.
#[derive(Debug, Error)]
pub enum ListenError {
    /// The options do not allow to listen.
    #[error("{0}")]
    Usage(String),
    /// The system refuses to bind the address.
    #[error("cannot listen on {address}")]
    Address {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
}
