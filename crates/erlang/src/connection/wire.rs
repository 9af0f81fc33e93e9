//! The non-blocking socket after the handshake, plain or TLS.

use std::io::{self, Read, Write};

use mio::net::TcpStream;
use rustls::{ClientConnection, StreamOwned};

use crate::distribution::Timed;

/// A connected stream, with or without TLS.
pub(super) enum Stream {
    Plain(Timed),
    Tls(Box<StreamOwned<ClientConnection, Timed>>),
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.read(buffer),
            Self::Tls(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.write(bytes),
            Self::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.flush(),
            Self::Tls(stream) => stream.flush(),
        }
    }
}

/// A non-blocking socket.
pub(super) struct Wire {
    pub(super) socket: TcpStream,
    tls: Option<ClientConnection>,
}

impl Wire {
    pub(super) fn new(stream: Stream) -> io::Result<Self> {
        let (timed, tls) = match stream {
            Stream::Plain(timed) => (timed, None),
            Stream::Tls(stream) => {
                let (connection, timed) = stream.into_parts();
                (timed, Some(connection))
            }
        };
        let socket = timed.into_stream();
        socket.set_nonblocking(true)?;
        Ok(Self { socket: TcpStream::from_std(socket), tls })
    }

    /// Reads some bytes; 0 at the end of the stream, `WouldBlock` if none are available.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(tls) = &mut self.tls else { return self.socket.read(buffer) };
        loop {
            match tls.reader().read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                done => return done,
            }
            if tls.read_tls(&mut self.socket)? == 0 {
                return Ok(0);
            }
            tls.process_new_packets()
                .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        }
    }

    /// Writes some of the bytes and returns their number.
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.tls {
            None => self.socket.write(bytes),
            Some(tls) if tls.wants_write() => {
                tls.write_tls(&mut self.socket)?;
                Ok(0)
            }
            Some(tls) => tls.writer().write(bytes),
        }
    }

    /// Returns whether TLS holds bytes that wait to be written.
    pub(super) fn holds_back(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.wants_write())
    }
}
