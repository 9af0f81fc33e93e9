//! A connection over one blocking socket, for topology, administration and setup.
//!
//! Every wait has a timeout. Bulk work belongs to an event loop, which can take over a client with
//! [`Client::into_parts`].

use std::{
    io,
    net::{TcpStream, ToSocketAddrs},
    time::{Duration, Instant},
};

use rabbitscope_protocol::{self as protocol, Transport, Wire as _};

use crate::{
    connection::Connection,
    error::{ConnectionError, Refusal},
    event::Event,
    method::{Reply, Request},
    parts::{Content, Route},
    properties::Properties,
    uri::Uri,
};

/// Error of a blocking call. After [`ClientError::Refused`] the channel is closed.
pub type ClientError = protocol::ClientError<ConnectionError, Refusal>;

/// A client that has logged in.
#[derive(Debug)]
pub struct Client<S = TcpStream>(protocol::Client<Connection, S>);

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
        let mut client = Self(protocol::Client::new(stream, connection, timeout));
        client.wait(|event| matches!(event, Event::Opened).then_some(Ok(())))?;
        Ok(client)
    }

    /// Returns the connection, for its limits and properties.
    pub fn connection(&self) -> &Connection {
        self.0.connection()
    }

    /// Opens a channel.
    pub fn open_channel(&mut self) -> Result<u16, ClientError> {
        let channel = self.begin_channel()?;
        self.wait_for_channel(channel)
    }

    /// Opens the channel with this number, which must be closed.
    pub fn open_channel_number(&mut self, channel: u16) -> Result<u16, ClientError> {
        let connection = self.0.connection_mut();
        connection.open_channel_number(channel).map_err(ClientError::Connection)?;
        self.wait_for_channel(channel)
    }

    fn wait_for_channel(&mut self, channel: u16) -> Result<u16, ClientError> {
        self.wait(|event| match event {
            Event::ChannelOpened { channel: opened } if opened == channel => Some(Ok(channel)),
            event => closed(event, channel),
        })
    }

    /// Sends a request and waits for its answer. Messages that arrive in between are dropped. After
    /// [`ClientError::Refused`] the channel is closed.
    pub fn call(&mut self, channel: u16, request: &Request<'_>) -> Result<Reply, ClientError> {
        self.send(channel, request);
        self.wait(|event| match event {
            Event::Reply { channel: answered, reply } if answered == channel => Some(Ok(reply)),
            event => closed(event, channel),
        })
    }

    /// Sends a request without waiting; [`Client::wait`] takes its answer.
    pub fn send(&mut self, channel: u16, request: &Request<'_>) {
        self.0.connection_mut().request(channel, request);
    }

    /// Appends a message to the output, which [`Client::poll`] and every call write. The default exchange routes it
    /// to this queue.
    pub fn publish(&mut self, channel: u16, queue: &str, properties: &Properties, body: &[u8]) {
        let content = Content::new(properties, body, self.0.connection().limits().frame_max);
        let route = Route::new("", queue, false);
        self.0.connection_mut().publish_parts(channel, &route, &content, &[]);
    }

    /// Writes the output, and passes events to `event` for `wait` at most. Returns as soon as `event` returns true,
    /// for an event with work to do. Sends and expects heartbeats.
    pub fn poll(
        &mut self,
        wait: Duration,
        event: impl FnMut(Event<'_>) -> bool,
    ) -> Result<(), ClientError> {
        self.0.poll(wait, event)
    }

    /// Opens a channel without waiting. Requests may follow at once.
    pub fn begin_channel(&mut self) -> Result<u16, ClientError> {
        self.0.connection_mut().open_channel().map_err(ClientError::Connection)
    }

    /// Closes a channel without waiting.
    pub fn end_channel(&mut self, channel: u16) {
        self.0.connection_mut().close_channel(channel);
    }

    /// Closes the connection, and waits for the broker's agreement.
    pub fn close(mut self) -> Result<(), ClientError> {
        self.0.connection_mut().close();
        self.wait(|event| matches!(event, Event::Closed).then_some(Ok(())))
    }

    /// Returns the socket, the connection, and the bytes that were read and not processed.
    pub fn into_parts(self) -> (S, Connection, Vec<u8>) {
        self.0.into_parts()
    }

    /// Writes the output, then takes events until `answer` returns a value.
    pub fn wait<T>(
        &mut self,
        answer: impl FnMut(Event<'_>) -> Option<Result<T, ClientError>>,
    ) -> Result<T, ClientError> {
        self.0.wait(answer)?
    }
}

fn closed<T>(event: Event<'_>, channel: u16) -> Option<Result<T, ClientError>> {
    match event {
        Event::ChannelClosed { channel: closed, refusal: Some(refusal) } if closed == channel => {
            Some(Err(ClientError::Refused(refusal)))
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
