//! A connection over one blocking socket, for the login and for links before the load.

use std::{
    fmt,
    time::{Duration, Instant},
};

use rabbitscope_protocol::{self as protocol, Transport};

use crate::{
    connection::{Connection, Login, Receiver, Sender},
    error::{ConnectionError, Refusal},
    event::Event,
};

/// Error of a blocking call.
pub type ClientError = protocol::ClientError<ConnectionError, LinkRefusal>;

/// The reason why a link cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkRefusal {
    /// The broker refused it.
    Ended(Refusal),
    /// The broker does not have these filters in place, and would send messages that they exclude.
    MissingFilters(Vec<&'static str>),
}

impl fmt::Display for LinkRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ended(refusal) => refusal.fmt(f),
            Self::MissingFilters(names) => {
                write!(f, "the broker does not know the filters {}", names.join(", "))
            }
        }
    }
}

/// A client that has logged in.
#[derive(Debug)]
pub struct Client<S>(protocol::Client<Connection, S>);

impl<S: Transport> Client<S> {
    /// Logs in over a connected socket. `timeout` applies to the login and to each later call. Writes have the socket's
    /// own timeout.
    pub fn log_in(stream: S, login: Login, timeout: Duration) -> Result<Self, ClientError> {
        let connection = Connection::new(login, Instant::now());
        let mut client = protocol::Client::new(stream, connection, timeout);
        client.wait::<_, LinkRefusal>(|event| matches!(event, Event::Opened).then_some(()))?;
        Ok(Self(client))
    }

    /// Returns the connection.
    pub fn connection(&mut self) -> &mut Connection {
        self.0.connection_mut()
    }

    /// Attaches a sender in a session of its own.
    pub fn attach_sender(&mut self, lane: u16, sender: &Sender) -> Result<(), ClientError> {
        self.connection().attach_sender(lane, sender);
        self.attached(lane)
    }

    /// Attaches a receiver in a session of its own.
    pub fn attach_receiver(&mut self, lane: u16, receiver: &Receiver) -> Result<(), ClientError> {
        self.connection().attach_receiver(lane, receiver);
        self.attached(lane)?;
        match self.connection().missing_filters(lane) {
            [] => Ok(()),
            missing => Err(ClientError::Refused(LinkRefusal::MissingFilters(missing.to_vec()))),
        }
    }

    fn attached(&mut self, wanted: u16) -> Result<(), ClientError> {
        self.0.wait(|event| match event {
            Event::Attached { lane } if lane == wanted => Some(Ok(())),
            Event::Ended { lane, refusal, .. } if lane == wanted => {
                Some(Err(ClientError::Refused(LinkRefusal::Ended(refusal))))
            }
            _ => None,
        })?
    }

    /// Passes events to `event` for `wait` at most, and writes the output. Returns as soon as `event` returns true.
    pub fn poll(
        &mut self,
        wait: Duration,
        event: impl FnMut(Event<'_>) -> bool,
    ) -> Result<(), ClientError> {
        self.0.poll(wait, event)
    }

    /// Returns the socket, the connection, and the bytes that were read and not processed.
    pub fn into_parts(self) -> (S, Connection, Vec<u8>) {
        self.0.into_parts()
    }
}
