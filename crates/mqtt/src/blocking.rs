//! A connection over one blocking socket, for the login and for requests before the load.

use std::{
    io::ErrorKind,
    time::{Duration, Instant},
};

use rabbitscope_protocol::{self as protocol, Transport};

use crate::{
    connection::{Connection, Login},
    error::ConnectionError,
    event::Event,
    protocol::{reason::Reason, version::Version},
};

/// Error of a blocking call.
pub type ClientError = protocol::ClientError<ConnectionError, Reason>;

/// A client that has logged in.
#[derive(Debug)]
pub struct Client<S>(protocol::Client<Connection, S>);

impl<S: Transport> Client<S> {
    /// Logs in over a connected socket. `timeout` applies to the login and to each later call. Writes have the socket's
    /// own timeout.
    pub fn log_in(stream: S, login: Login, timeout: Duration) -> Result<Self, ClientError> {
        let version = login.version;
        let connection = Connection::new(login, Instant::now());
        let mut client = protocol::Client::new(stream, connection, timeout);
        let opened = client.wait(|event| matches!(event, Event::Opened).then_some(()));
        opened.map_err(|error| explained(error, version))?;
        Ok(Self(client))
    }

    /// Returns the connection, for requests whose answer [`Client::answered`] takes.
    pub fn connection(&mut self) -> &mut Connection {
        self.0.connection_mut()
    }

    /// Waits for the answer to a request. Other events in between are dropped. Fails if the broker refused it.
    pub fn answered(&mut self, request: u16) -> Result<(), ClientError> {
        let answer = self.0.wait(|event| match event {
            Event::Answer { packet, reason } if packet == request => Some(reason),
            _ => None,
        });
        match answer? {
            Reason::SUCCESS => Ok(()),
            reason => Err(ClientError::Refused(reason)),
        }
    }

    /// Returns the socket, the connection, and the bytes that were read and not processed.
    pub fn into_parts(self) -> (S, Connection, Vec<u8>) {
        self.0.into_parts()
    }
}

/// Returns the reason of a failed login: a broker that does not speak MQTT 5 closes the socket without an answer.
fn explained(error: ClientError, version: Version) -> ClientError {
    let is_closed = match &error {
        ClientError::Eof => true,
        ClientError::Io(error) => {
            matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe)
        }
        _ => false,
    };
    let is_refused = version == Version::V5 && is_closed;
    if is_refused {
        ClientError::Connection(ConnectionError::VersionUnknown(version))
    } else {
        error
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn a_silent_end_says_that_the_broker_lacks_the_version() {
        let check = |error: ClientError, version, expected: &str| {
            let message = explained(error, version).to_string();
            assert!(message.contains(expected), "{message}");
        };
        let reset = || ClientError::Io(io::ErrorKind::ConnectionReset.into());
        check(
            ClientError::Eof,
            Version::V5,
            "does not speak MQTT 5, which RabbitMQ has since 3.13",
        );
        check(reset(), Version::V5, "does not speak MQTT 5");
        check(reset(), Version::V3, "the connection broke");
        check(ClientError::Eof, Version::V3, "without giving a reason");
        let refused = ConnectionError::LoginRefused(Reason::CREDENTIALS);
        let expected = "refused the login: bad user name or password";
        check(ClientError::Connection(refused), Version::V5, expected);
    }
}
