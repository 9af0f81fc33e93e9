//! A connection over one blocking socket, for topology, administration and setup.
//!
//! Every wait has a timeout. Bulk work belongs to an event loop, which can take over a client with
//! [`Client::into_parts`].

use std::{
    io,
    net::{TcpStream, ToSocketAddrs},
    time::{Duration, Instant},
};

use rabbitscope_protocol::{Input, Transport, Wire};
use thiserror::Error;

use crate::{
    connection::Connection,
    error::{ConnectionError, Refusal},
    event::Event,
    method::{Reply, Request},
    parts::{Content, Route},
    properties::Properties,
    uri::Uri,
};

/// Error of a blocking call.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ClientError {
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
    /// The broker closed the socket without `connection.close`.
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
    Connection(#[from] ConnectionError),
    /// The broker closed the channel.
    #[error("{0}")]
    Channel(Refusal),
}

/// A client that has logged in.
#[derive(Debug)]
pub struct Client<S = TcpStream> {
    stream: S,
    connection: Connection,
    /// Bytes that were read and not processed yet.
    input: Vec<u8>,
    timeout: Duration,
}

/// Size of one read in bytes.
const READ: usize = 64 * 1024;

impl Client {
    /// Connects and logs in, without TLS. `timeout` applies to the connection and to each later call.
    pub fn connect(uri: &Uri, name: &str, timeout: Duration) -> Result<Self, ClientError> {
        let stream = dial(uri, timeout)
            .map_err(|source| ClientError::Connect { address: uri.address(), source })?;
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(timeout))?;
        Self::log_in(stream, uri, name, timeout)
    }
}

impl<S: Transport> Client<S> {
    /// Logs in over a connected socket. `timeout` applies to the login and to each later call. Writes have the
    /// socket's own timeout.
    pub fn log_in(
        stream: S,
        uri: &Uri,
        name: &str,
        timeout: Duration,
    ) -> Result<Self, ClientError> {
        let connection = Connection::new(uri, name, Instant::now());
        let mut client = Self { stream, connection, input: Vec::new(), timeout };
        client.wait(|event| matches!(event, Event::Opened).then_some(Ok(())))?;
        Ok(client)
    }

    /// Returns the connection, for its limits and properties.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Opens a channel.
    pub fn open_channel(&mut self) -> Result<u16, ClientError> {
        let channel = self.connection.open_channel()?;
        self.wait(|event| match event {
            Event::ChannelOpened { channel: opened } if opened == channel => Some(Ok(channel)),
            event => closed(event, channel),
        })
    }

    /// Sends a request and waits for its answer. Messages that arrive in between are dropped. After
    /// [`ClientError::Channel`] the channel is closed.
    pub fn call(&mut self, channel: u16, request: &Request<'_>) -> Result<Reply, ClientError> {
        self.send(channel, request);
        self.wait(|event| match event {
            Event::Reply { channel: answered, reply } if answered == channel => Some(Ok(reply)),
            event => closed(event, channel),
        })
    }

    /// Sends a request without waiting; [`Client::wait`] takes its answer.
    pub fn send(&mut self, channel: u16, request: &Request<'_>) {
        self.connection.request(channel, request);
    }

    /// Appends a message to the output, which [`Client::poll`] and every call write. The default exchange routes it
    /// to this queue.
    pub fn publish(&mut self, channel: u16, queue: &str, properties: &Properties, body: &[u8]) {
        let content = Content::new(properties, body, self.connection.limits().frame_max);
        let route = Route::new("", queue, false);
        self.connection.publish_parts(channel, &route, &content, &[]);
    }

    /// Writes the output, and passes events to `event` for `wait` at most. Returns as soon as `event` returns true,
    /// for an event with work to do. Sends and expects heartbeats.
    pub fn poll(
        &mut self,
        wait: Duration,
        mut event: impl FnMut(Event<'_>) -> bool,
    ) -> Result<(), ClientError> {
        let deadline = Instant::now() + wait;
        loop {
            let mut has_work = false;
            self.take::<()>(&mut |taken| {
                has_work |= event(taken);
                None
            })?;
            self.connection.tick(Instant::now())?;
            self.flush()?;
            if has_work || Instant::now() >= deadline {
                return Ok(());
            }
            match self.read(deadline) {
                Err(ClientError::TimedOut { .. }) => {}
                read => read?,
            }
        }
    }

    /// Opens a channel without waiting. Requests may follow at once.
    pub fn begin_channel(&mut self) -> Result<u16, ClientError> {
        Ok(self.connection.open_channel()?)
    }

    /// Closes a channel without waiting.
    pub fn end_channel(&mut self, channel: u16) {
        self.connection.close_channel(channel);
    }

    /// Closes the connection, and waits for the broker's agreement.
    pub fn close(mut self) -> Result<(), ClientError> {
        self.connection.close();
        self.wait(|event| matches!(event, Event::Closed).then_some(Ok(())))
    }

    /// Returns the socket, the connection, and the bytes that were read and not processed. Frees the memory that only
    /// the setup needs, because there may be thousands of connections.
    pub fn into_parts(mut self) -> (S, Connection, Vec<u8>) {
        self.input.shrink_to_fit();
        self.connection.shrink();
        (self.stream, self.connection, self.input)
    }

    /// Writes the output, then takes events until `answer` returns a value.
    pub fn wait<T>(
        &mut self,
        mut answer: impl FnMut(Event<'_>) -> Option<Result<T, ClientError>>,
    ) -> Result<T, ClientError> {
        let deadline = Instant::now() + self.timeout;
        loop {
            if let Some(answer) = self.take(&mut answer)? {
                self.flush()?;
                return answer;
            }
            self.flush()?;
            self.read(deadline)?;
        }
    }

    fn take<T>(
        &mut self,
        answer: &mut impl FnMut(Event<'_>) -> Option<Result<T, ClientError>>,
    ) -> Result<Option<Result<T, ClientError>>, ClientError> {
        let mut frames = Input::new(&self.input);
        let mut answered = None;
        while answered.is_none() {
            match self.connection.next_event(&mut frames) {
                Ok(Some(event)) => answered = answer(event),
                Ok(None) => break,
                Err(error) => {
                    // Writing the answer to the broker's close is a courtesy, so an error does not matter.
                    self.flush().ok();
                    return Err(error.into());
                }
            }
        }
        let consumed = frames.consumed();
        self.input.drain(..consumed);
        Ok(answered)
    }

    fn flush(&mut self) -> Result<(), ClientError> {
        while !self.connection.output().is_empty() {
            let count = self.stream.write(self.connection.output().pending());
            let count = count.map_err(|error| self.io_error(error))?;
            self.connection.output().advance(count);
        }
        self.stream.flush().map_err(|error| self.io_error(error))?;
        self.connection.has_written(Instant::now());
        Ok(())
    }

    fn read(&mut self, deadline: Instant) -> Result<(), ClientError> {
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

    fn io_error(&self, error: io::Error) -> ClientError {
        match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                ClientError::TimedOut { after: self.timeout }
            }
            _ => ClientError::Io(error),
        }
    }
}

fn closed<T>(event: Event<'_>, channel: u16) -> Option<Result<T, ClientError>> {
    match event {
        Event::ChannelClosed { channel: closed, refusal: Some(refusal) } if closed == channel => {
            Some(Err(ClientError::Channel(refusal)))
        }
        _ => None,
    }
}

/// Tries each address of the host name.
fn dial(uri: &Uri, timeout: Duration) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in (uri.host.as_str(), uri.port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, timeout) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}
