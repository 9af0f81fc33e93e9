//! A connection over one blocking socket, for each step that waits for an answer.

use std::{
    io,
    time::{Duration, Instant},
};

use thiserror::Error;

use crate::{Input, Transport, Wire};

/// Size of one read in bytes.
const READ: usize = 64 * 1024;

/// Error of a blocking call. `E` is the end of the connection, `R` the broker's refusal of one request.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ClientError<E, R> {
    /// The connection was refused, or the name does not resolve.
    #[error("cannot connect to {address}: {source}")]
    Connect {
        /// Host and port.
        address: String,
        /// Error of the system.
        source: io::Error,
    },
    /// The socket failed.
    #[error("the connection broke: {0}")]
    Io(#[from] io::Error),
    /// The broker closed the socket without a reason.
    #[error("the other side closed the connection without giving a reason")]
    Eof,
    /// The broker did not answer in time.
    #[error("no answer within {} s", .after.as_secs())]
    TimedOut {
        /// Timeout of the call.
        after: Duration,
    },
    /// The connection has ended.
    #[error(transparent)]
    Connection(E),
    /// The broker refused a request. The connection goes on.
    #[error("{0}")]
    Refused(R),
}

/// A connection with its socket.
#[derive(Debug)]
pub struct Client<W, S> {
    stream: S,
    connection: W,
    /// Bytes that were read and not processed yet.
    input: Vec<u8>,
    timeout: Duration,
}

impl<W: Wire, S: Transport> Client<W, S> {
    /// Creates a client of a connected socket. `timeout` applies to each call. Writes have the socket's own timeout.
    pub fn new(stream: S, connection: W, timeout: Duration) -> Self {
        Self { stream, connection, input: Vec::new(), timeout }
    }

    /// Returns the connection, for its limits.
    pub fn connection(&self) -> &W {
        &self.connection
    }

    /// Returns the connection, for requests.
    pub fn connection_mut(&mut self) -> &mut W {
        &mut self.connection
    }

    /// Returns the socket, the connection, and the bytes that were read and not processed. Frees the memory that only
    /// the setup needs, because there may be thousands of connections.
    pub fn into_parts(mut self) -> (S, W, Vec<u8>) {
        self.input.shrink_to_fit();
        self.connection.shrink();
        (self.stream, self.connection, self.input)
    }

    /// Writes the output, then takes events until `answer` returns a value.
    pub fn wait<T, R>(
        &mut self,
        mut answer: impl FnMut(W::Event<'_>) -> Option<T>,
    ) -> Result<T, ClientError<W::Error, R>> {
        let deadline = Instant::now() + self.timeout;
        loop {
            let answered = self.take(&mut answer);
            let flushed = self.flush();
            // After an error the output tells the broker the reason: a courtesy, which may fail.
            if let Some(answer) = answered? {
                return Ok(answer);
            }
            flushed?;
            self.read(deadline)?;
        }
    }

    /// Writes the output, and passes events to `event` for `wait` at most. Returns as soon as `event` returns true,
    /// for an event with work to do. Sends and expects heartbeats.
    pub fn poll<R>(
        &mut self,
        wait: Duration,
        mut event: impl FnMut(W::Event<'_>) -> bool,
    ) -> Result<(), ClientError<W::Error, R>> {
        let deadline = Instant::now() + wait;
        loop {
            let mut has_work = false;
            let taken = self.take(&mut |taken| {
                has_work |= event(taken);
                None::<()>
            });
            let ticked = self.connection.tick(Instant::now()).map_err(ClientError::Connection);
            let flushed = self.flush();
            taken?;
            ticked?;
            flushed?;
            if has_work || Instant::now() >= deadline {
                return Ok(());
            }
            match self.read(deadline) {
                Err(ClientError::TimedOut { .. }) => {}
                read => read?,
            }
        }
    }

    fn take<T, R>(
        &mut self,
        answer: &mut impl FnMut(W::Event<'_>) -> Option<T>,
    ) -> Result<Option<T>, ClientError<W::Error, R>> {
        let mut input = Input::new(&self.input);
        let mut answered = Ok(None);
        while matches!(answered, Ok(None)) {
            match self.connection.next_event(&mut input) {
                Ok(Some(event)) => answered = Ok(answer(event)),
                Ok(None) => break,
                Err(error) => answered = Err(ClientError::Connection(error)),
            }
        }
        let consumed = input.consumed();
        self.input.drain(..consumed);
        answered
    }

    fn flush<R>(&mut self) -> Result<(), ClientError<W::Error, R>> {
        while !self.connection.output().is_empty() {
            let count = self.stream.write(self.connection.output().pending());
            let count = count.map_err(|error| self.io_error(error))?;
            self.connection.output().advance(count);
        }
        self.stream.flush().map_err(|error| self.io_error(error))?;
        self.connection.has_written(Instant::now());
        Ok(())
    }

    fn read<R>(&mut self, deadline: Instant) -> Result<(), ClientError<W::Error, R>> {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ClientError::TimedOut { after: self.timeout });
        }
        self.stream.set_read_timeout(left)?;
        let filled = self.input.len();
        self.input.resize(filled + READ, 0);
        let count = self.stream.read(&mut self.input[filled..]);
        self.input.truncate(filled + count.as_ref().map_or(0, |count| *count));
        match count {
            Ok(0) => Err(ClientError::Eof),
            Ok(_) => {
                self.connection.has_read(Instant::now());
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            Err(error) => Err(self.io_error(error)),
        }
    }

    fn io_error<R>(&self, error: io::Error) -> ClientError<W::Error, R> {
        match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                ClientError::TimedOut { after: self.timeout }
            }
            _ => ClientError::Io(error),
        }
    }
}
