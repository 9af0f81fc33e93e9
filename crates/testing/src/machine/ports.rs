//! Free ports.

use std::net::{SocketAddr, TcpListener};

/// Returns an address of this machine at which nothing listens now.
pub fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// Returns its port alone.
pub fn free_port() -> u16 {
    free_address().port()
}
