//! A socket with or without TLS. It is blocking during its set-up and non-blocking afterwards.
//!
//! It is an enum, not a trait object. Only TLS has buffers: a plain socket reads into and writes from the caller's
//! memory.

use std::{
    io::{self, Read, Write},
    net::{Shutdown, TcpStream},
    os::fd::{AsRawFd, RawFd},
    sync::Arc,
    time::Duration,
};

use rabbitscope_protocol::Transport;
use rustls::{ClientConfig, ClientConnection, pki_types::ServerName};

/// A connected socket.
#[derive(Debug)]
pub enum Stream {
    /// Without TLS.
    Plain(TcpStream),
    /// With TLS.
    Tls(Box<Tls>),
}

/// A socket with TLS.
#[derive(Debug)]
pub struct Tls {
    tcp: TcpStream,
    session: ClientConnection,
}

/// The result of one attempt to read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Received {
    /// Bytes in the caller's buffer. 0 is the end of the stream; absent if nothing has arrived.
    pub bytes: Option<usize>,
    /// True if the socket's receive buffer is empty.
    pub is_drained: bool,
    /// Bytes that came from the socket.
    pub wire_bytes: u64,
    /// Number of system calls.
    pub calls: u64,
}

/// The result of one attempt to write.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sent {
    /// Bytes taken from the caller.
    pub taken: usize,
    /// True if the socket's send buffer is full.
    pub is_full: bool,
    /// Bytes that went into the socket.
    pub wire_bytes: u64,
    /// Number of system calls.
    pub calls: u64,
}

impl Stream {
    /// Sets up TLS over a blocking socket. Returns after the handshake.
    pub(super) fn over_tls(
        mut tcp: TcpStream,
        config: Arc<ClientConfig>,
        name: ServerName<'static>,
    ) -> io::Result<Self> {
        let mut session = ClientConnection::new(config, name).map_err(io::Error::other)?;
        while session.is_handshaking() {
            session.complete_io(&mut tcp)?;
        }
        Ok(Self::Tls(Box::new(Tls { tcp, session })))
    }

    pub(crate) fn tcp(&self) -> &TcpStream {
        match self {
            Self::Plain(tcp) => tcp,
            Self::Tls(tls) => &tls.tcp,
        }
    }

    /// Makes the socket non-blocking.
    pub fn stop_waiting(&self) -> io::Result<()> {
        self.tcp().set_nonblocking(true)
    }

    /// Returns the descriptor of the socket.
    pub fn fd(&self) -> RawFd {
        self.tcp().as_raw_fd()
    }

    /// Shuts both directions down. An error means that the socket is broken already, which has the same effect.
    pub fn shut_down(&self) {
        self.tcp().shutdown(Shutdown::Both).ok();
    }

    /// Reads the bytes that have arrived, without waiting.
    #[inline]
    pub fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Received> {
        match self {
            Self::Plain(tcp) => {
                let bytes = match tcp.read(buffer) {
                    Ok(bytes) => bytes,
                    Err(error) => return nothing_yet(error),
                };
                let is_drained = bytes < buffer.len();
                let wire_bytes = bytes as u64;
                Ok(Received { bytes: Some(bytes), is_drained, wire_bytes, calls: 1 })
            }
            Self::Tls(tls) => tls.receive(buffer),
        }
    }

    /// Writes as many bytes as the socket accepts, without waiting.
    #[inline]
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<Sent> {
        match self {
            Self::Plain(tcp) => match tcp.write(bytes) {
                Ok(taken) => {
                    let is_full = taken < bytes.len();
                    Ok(Sent { taken, is_full, wire_bytes: taken as u64, calls: 1 })
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    Ok(Sent { is_full: true, ..Sent::default() })
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(Sent::default()),
                Err(error) => Err(error),
            },
            Self::Tls(tls) => tls.send(bytes),
        }
    }

    /// Returns whether TLS records wait for the socket.
    #[inline]
    pub fn has_backlog(&self) -> bool {
        match self {
            Self::Plain(_) => false,
            Self::Tls(tls) => tls.session.wants_write(),
        }
    }
}

#[inline]
fn nothing_yet(error: io::Error) -> io::Result<Received> {
    match error.kind() {
        io::ErrorKind::WouldBlock => Ok(Received { is_drained: true, ..Received::default() }),
        io::ErrorKind::Interrupted => Ok(Received::default()),
        _ => Err(error),
    }
}

impl Tls {
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Received> {
        let mut received = Received::default();
        let mut filled = 0;
        while filled < buffer.len() {
            match self.session.reader().read(&mut buffer[filled..]) {
                Ok(count) if count > 0 => {
                    filled += count;
                    continue;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // The end of the stream, with or without `close_notify`.
                Ok(_) => break,
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => break,
                Err(error) => return Err(error),
            }
            match self.session.read_tls(&mut self.tcp) {
                Ok(count) => {
                    received.wire_bytes += count as u64;
                    received.calls += 1;
                    self.session.process_new_packets().map_err(io::Error::other)?;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    received.is_drained = true;
                    received.bytes = (filled > 0).then_some(filled);
                    return Ok(received);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        received.bytes = Some(filled);
        Ok(received)
    }

    fn send(&mut self, bytes: &[u8]) -> io::Result<Sent> {
        let mut sent = Sent::default();
        self.drain(&mut sent)?;
        if !sent.is_full {
            sent.taken = self.session.writer().write(bytes)?;
            self.drain(&mut sent)?;
        }
        Ok(sent)
    }

    fn drain(&mut self, sent: &mut Sent) -> io::Result<()> {
        while self.session.wants_write() {
            match self.session.write_tls(&mut self.tcp) {
                Ok(count) => {
                    sent.wire_bytes += count as u64;
                    sent.calls += 1;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    sent.is_full = true;
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Used by the blocking client, before the socket becomes non-blocking.
impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(tcp) => tcp.read(buffer),
            Self::Tls(tls) => rustls::Stream::new(&mut tls.session, &mut tls.tcp).read(buffer),
        }
    }
}

/// Used by the blocking client, before the socket becomes non-blocking.
impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(tcp) => tcp.write(bytes),
            Self::Tls(tls) => rustls::Stream::new(&mut tls.session, &mut tls.tcp).write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(tcp) => tcp.flush(),
            Self::Tls(tls) => rustls::Stream::new(&mut tls.session, &mut tls.tcp).flush(),
        }
    }
}

impl Transport for Stream {
    fn set_read_timeout(&self, timeout: Duration) -> io::Result<()> {
        self.tcp().set_read_timeout(Some(timeout))
    }
}
