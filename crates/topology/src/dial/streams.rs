//! Connections of the stream protocol, to the node that fits: publishers to a stream's leader, readers to a replica.

use rabbitscope_amqp::{Mechanism as AmqpMechanism, Uri};
use rabbitscope_streams::{
    Code, ConnectionError, Login, Mechanism,
    blocking::{Client, ClientError, Place},
};

use super::{dialer::Dialer, stream::Stream};
use crate::error::TopologyError;

/// A connection of the stream protocol during its set-up.
pub type StreamClient = Client<Stream>;

/// The end of a stream at which a connection works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamEnd {
    /// Publishing goes to the leader.
    Publishing,
    /// Readers relieve the leader, if the stream has replicas.
    Reading,
}

impl Dialer {
    /// Connects to a node of the stream and logs in. `number` is the number of the connection, which decides the address
    /// that is tried first, and the replica. Returns the address as well, for errors.
    pub fn dial_stream(
        &self,
        name: &str,
        number: usize,
        (stream, end): (&str, StreamEnd),
    ) -> Result<(StreamClient, String), TopologyError> {
        let mut last = None;
        for uri in self.order(number) {
            match self.dial_node(uri, name, number, (stream, end)) {
                Ok(found) => return Ok(found),
                Err(error) => last = Some(error),
            }
        }
        Err(last.expect("there is at least one address"))
    }

    /// Connects to the node of a URI, asks where the stream is, and connects to that node if it is another one.
    fn dial_node(
        &self,
        uri: &Uri,
        name: &str,
        number: usize,
        (stream, end): (&str, StreamEnd),
    ) -> Result<(StreamClient, String), TopologyError> {
        let mut uri = self.current(uri);
        uri.port = uri.stream_port;
        let mut client = self.log_in(&uri, name)?;
        let own = advertised(&mut client);
        let doing = || format!("finding stream `{stream}`");
        let place =
            client.place(stream).map_err(|error| stream_error(&uri.address(), &doing(), error))?;
        match fitting(&place, end, number, own.as_ref()) {
            Some((host, port)) => {
                (uri.host, uri.port) = (host, port);
                let advertised = |error| match error {
                    TopologyError::NoStreams { address, reason } => {
                        let reason = format!("{reason} (the broker advertises this address)");
                        TopologyError::NoStreams { address, reason }
                    }
                    error => error,
                };
                Ok((self.log_in(&uri, name).map_err(advertised)?, uri.address()))
            }
            None => Ok((client, uri.address())),
        }
    }

    fn log_in(&self, uri: &Uri, name: &str) -> Result<StreamClient, TopologyError> {
        let stream = self.open(uri).map_err(|error| TopologyError::NoStreams {
            address: uri.address(),
            reason: error.to_string(),
        })?;
        let login = Login {
            user: uri.user.clone(),
            password: uri.password().to_owned(),
            vhost: uri.vhost.clone(),
            mechanism: match uri.mechanism {
                AmqpMechanism::Plain => Mechanism::Plain,
                AmqpMechanism::External => Mechanism::External,
                AmqpMechanism::Anonymous => Mechanism::Anonymous,
            },
            name: name.to_owned(),
            heartbeat_seconds: uri.heartbeat_seconds.map(u32::from),
        };
        Client::log_in(stream, login, self.timeout()).map_err(|error| login_failed(uri, error))
    }
}

/// Returns the address that the node gives for itself.
fn advertised(client: &mut StreamClient) -> Option<(String, u16)> {
    let connection = client.connection();
    let host = connection.property("advertised_host")?.to_owned();
    Some((host, connection.property("advertised_port")?.parse().ok()?))
}

/// Returns the node to connect to; `None` if the connected one fits. A node without an address of its own cannot be
/// compared, so its connection stays.
fn fitting(
    place: &Place,
    end: StreamEnd,
    number: usize,
    own: Option<&(String, u16)>,
) -> Option<(String, u16)> {
    let own = own?;
    let best = match end {
        StreamEnd::Reading if !place.replicas.is_empty() => {
            place.replicas.get(number % place.replicas.len())
        }
        StreamEnd::Reading | StreamEnd::Publishing => place.leader.as_ref(),
    };
    best.filter(|best| *best != own).cloned()
}

/// Converts the error of a request on an open connection. `doing` names the request.
pub fn stream_error(address: &str, doing: &str, error: ClientError) -> TopologyError {
    let (address, doing) = (address.to_owned(), doing.to_owned());
    match error {
        ClientError::Refused(code) => TopologyError::StreamRefused {
            address,
            doing,
            reason: code.to_string(),
            is_permission: code == Code::ACCESS,
        },
        error => TopologyError::Broken { address, doing, reason: error.to_string() },
    }
}

/// Converts the error of a server that answered but refused the login.
fn login_failed(uri: &Uri, error: ClientError) -> TopologyError {
    let address = uri.address();
    let refused = |doing: String, code: Code| TopologyError::StreamRefused {
        address: uri.address(),
        doing,
        reason: code.to_string(),
        is_permission: true,
    };
    match error {
        ClientError::Connection(ConnectionError::LoginRefused(code)) => {
            refused(format!("user `{}`", uri.user), code)
        }
        ClientError::Connection(ConnectionError::VhostRefused(code)) => {
            refused(format!("virtual host `{}`", uri.vhost), code)
        }
        error => TopologyError::NoStreams { address, reason: error.to_string() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn publishers_go_to_the_leader_and_readers_to_the_replicas() {
        let node = |port: u16| ("h".to_owned(), port);
        let place = Place { leader: Some(node(1)), replicas: vec![node(2), node(3)] };
        let to = |end, number, own| fitting(&place, end, number, Some(&node(own)));
        assert_eq!(to(StreamEnd::Publishing, 0, 1), None);
        assert_eq!(to(StreamEnd::Publishing, 0, 2), Some(node(1)));
        assert_eq!(to(StreamEnd::Reading, 0, 1), Some(node(2)));
        assert_eq!(to(StreamEnd::Reading, 1, 1), Some(node(3)));
        assert_eq!(to(StreamEnd::Reading, 1, 3), None);
        let alone = Place { replicas: Vec::new(), ..place };
        assert_eq!(fitting(&alone, StreamEnd::Reading, 0, Some(&node(1))), None);
        assert_eq!(fitting(&alone, StreamEnd::Reading, 0, None), None, "it has no own address");
    }
}
