//! A blocking socket.

use std::{
    io::{self, Read, Write},
    net::TcpStream,
    time::Duration,
};

/// A connected, blocking socket, with or without TLS.
pub trait Transport: Read + Write {
    /// Limits the wait of each read.
    fn set_read_timeout(&self, timeout: Duration) -> io::Result<()>;
}

impl Transport for TcpStream {
    fn set_read_timeout(&self, timeout: Duration) -> io::Result<()> {
        Self::set_read_timeout(self, Some(timeout))
    }
}
