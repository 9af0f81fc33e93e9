//! A socket that tells its connection about the bytes that pass.

use std::{
    future::poll_fn,
    io::{self, ErrorKind, IoSlice},
    pin::Pin,
    rc::Rc,
    task::{Context, Poll, ready},
};

use hyper::rt::{Read, ReadBufCursor, Write};
use rustix::net::sockopt::set_socket_send_buffer_size;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};

use super::Connection;

/// Size of one read from a socket.
const READ_BYTES: usize = 4096;

/// Size of the kernel's buffer for events. The usual one grows to megabytes, which hide a client that does not read.
const EVENT_BUFFER_BYTES: usize = 64 << 10;

/// Number of bytes that are read and dropped after the last response. A refused client may still be sending. Closing
/// a connection with unread bytes would reset it, and the client would not receive the response.
const MAX_DISCARDED_BYTES: usize = 256 << 10;

/// The socket of a connection, as hyper reads and writes it.
#[derive(Debug)]
pub(crate) struct Socket {
    stream: TcpStream,
    connection: Rc<Connection>,
    has_small_buffer: bool,
}

impl Socket {
    pub(crate) fn new(stream: TcpStream, connection: Rc<Connection>) -> Self {
        Self { stream, connection, has_small_buffer: false }
    }

    /// Ends the sending, and drops the client's bytes until it closes, too.
    pub(crate) async fn leave(self) -> io::Result<()> {
        let Self { mut stream, .. } = self;
        poll_fn(|context| Pin::new(&mut stream).poll_shutdown(context)).await?;
        let mut discarded = 0;
        while discarded <= MAX_DISCARDED_BYTES {
            stream.readable().await?;
            match stream.try_read(&mut [0; READ_BYTES]) {
                Ok(0) => break,
                Ok(count) => discarded += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn shrink_buffer(&mut self) -> io::Result<()> {
        if !self.has_small_buffer && self.connection.is_streaming() {
            set_socket_send_buffer_size(&self.stream, EVENT_BUFFER_BYTES)?;
            self.has_small_buffer = true;
        }
        Ok(())
    }

    fn stream(&mut self) -> Pin<&mut TcpStream> {
        Pin::new(&mut self.stream)
    }

    fn noted<T>(&self, written: Poll<T>) -> Poll<T> {
        if written.is_pending() {
            self.connection.blocked();
        }
        written
    }
}

impl Read for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        mut buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        // Copied through an array: hyper's buffer is not initialised, and writing to it is unsafe.
        let mut bytes = [0; READ_BYTES];
        let room = buffer.remaining().min(READ_BYTES);
        let mut bytes = ReadBuf::new(&mut bytes[..room]);
        ready!(self.stream().poll_read(context, &mut bytes))?;
        if !bytes.filled().is_empty() {
            self.connection.received();
        }
        buffer.put_slice(bytes.filled());
        Poll::Ready(Ok(()))
    }
}

impl Write for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(context, &[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.shrink_buffer()?;
        let written = self.stream().poll_write_vectored(context, parts);
        self.noted(written)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        // The kernel sends what it has. hyper asks for this when it has no more.
        self.connection.flushed();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream().poll_shutdown(context)
    }
}
