//! A blocking socket, with or without TLS, for connections of other crates that carry no load.

use std::{
    io::{self, Read, Write},
    time::Duration,
};

use rabbitscope_amqp::blocking::Client;
use rabbitscope_protocol::Transport;

use super::stream::Stream;

/// A connection that carries no load.
pub type ControlClient = Client<ControlStream>;

/// The socket of a [`ControlClient`].
#[derive(Debug)]
pub struct ControlStream(Stream);

impl ControlStream {
    pub(super) fn new(stream: Stream) -> Self {
        Self(stream)
    }
}

impl Read for ControlStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Write for ControlStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Transport for ControlStream {
    fn set_read_timeout(&self, timeout: Duration) -> io::Result<()> {
        self.0.set_read_timeout(timeout)
    }
}
