//! Connections of AMQP 1.0, at the port of AMQP 0-9-1.

use rabbitscope_amqp::{Mechanism as AmqpMechanism, Uri};
use rabbitscope_amqp10::{
    ConnectionError, Login, Mechanism, Refusal,
    blocking::{Client, ClientError, LinkRefusal},
};

use super::{dialer::Dialer, stream::Stream};
use crate::error::TopologyError;

/// A connection of AMQP 1.0 during its set-up.
pub type Amqp10Client = Client<Stream>;

impl Dialer {
    /// Connects and logs in, for so many sessions. `number` is the number of the connection, which decides the address
    /// that is tried first. Returns the address as well, for errors.
    pub fn dial_amqp10(
        &self,
        name: &str,
        number: usize,
        sessions: u16,
    ) -> Result<(Amqp10Client, String), TopologyError> {
        let mut last = None;
        for uri in self.order(number) {
            match self.log_in_amqp10(&self.current(uri), name, sessions) {
                Ok(client) => return Ok((client, uri.address())),
                Err(error) => last = Some(error),
            }
        }
        Err(last.expect("there is at least one address"))
    }

    fn log_in_amqp10(
        &self,
        uri: &Uri,
        name: &str,
        sessions: u16,
    ) -> Result<Amqp10Client, TopologyError> {
        let stream = self.open(uri).map_err(|error| TopologyError::Unreachable {
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
            sessions,
        };
        let mut client = Client::log_in(stream, login, self.timeout())
            .map_err(|error| login_failed(uri, error))?;
        let permitted = client.connection().sessions_max();
        if u32::from(sessions) > permitted {
            return Err(TopologyError::LinkRefused {
                address: uri.address(),
                doing: format!("{sessions} sessions on a connection"),
                reason: format!("it permits {permitted}; spread the members over more connections"),
                is_permission: false,
            });
        }
        Ok(client)
    }
}

/// Converts the error of a request on an open connection. `doing` names the request.
pub fn amqp10_error(address: &str, doing: &str, error: ClientError) -> TopologyError {
    let (address, doing) = (address.to_owned(), doing.to_owned());
    match error {
        ClientError::Refused(refusal) => TopologyError::LinkRefused {
            is_permission: matches!(&refusal, LinkRefusal::Ended(one) if is_permission(one)),
            address,
            doing,
            reason: refusal.to_string(),
        },
        error => TopologyError::Broken { address, doing, reason: error.to_string() },
    }
}

/// Converts the error of a server that answered but refused the login.
fn login_failed(uri: &Uri, error: ClientError) -> TopologyError {
    let address = uri.address();
    match error {
        ClientError::Connection(ConnectionError::LoginRefused { code }) => {
            let (doing, reason) = (format!("user `{}`", uri.user), format!("SASL code {code}"));
            TopologyError::LinkRefused { address, doing, reason, is_permission: true }
        }
        ClientError::Connection(ConnectionError::ClosedByBroker(refusal)) => {
            let doing = format!("virtual host `{}`", uri.vhost);
            let reason = refusal.to_string();
            TopologyError::LinkRefused { address, doing, reason, is_permission: true }
        }
        ClientError::Connection(error) => {
            TopologyError::NoAmqp10 { address, reason: error.to_string() }
        }
        error => TopologyError::Unreachable { address, reason: error.to_string() },
    }
}

fn is_permission(refusal: &Refusal) -> bool {
    refusal.condition == Refusal::UNAUTHORIZED
}
