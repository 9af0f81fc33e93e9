//! Connections of MQTT.

use rabbitscope_amqp::{Mechanism as AmqpMechanism, Uri};
use rabbitscope_mqtt::{
    ConnectionError, Login, Mechanism, Reason, Version,
    blocking::{Client, ClientError},
};

use super::{dialer::Dialer, stream::Stream};
use crate::error::TopologyError;

/// A connection of MQTT during its set-up.
pub type MqttClient = Client<Stream>;

/// A client of MQTT, as the broker knows it.
#[derive(Clone, Copy, Debug)]
pub struct MqttIdentity<'a> {
    /// Client identifier, which no other connection has.
    pub client_id: &'a str,
    /// Version of the protocol.
    pub version: Version,
    /// Messages that the broker may send without an acknowledgement; absent: the broker's own limit.
    pub receive_maximum: Option<u16>,
}

impl Dialer {
    /// Connects to a node and logs in. `number` is the number of the connection, which decides the address that is tried
    /// first. Returns the address as well, for errors.
    pub fn dial_mqtt(
        &self,
        identity: MqttIdentity<'_>,
        number: usize,
    ) -> Result<(MqttClient, String), TopologyError> {
        let mut last = None;
        for uri in self.order(number) {
            let mut uri = self.current(uri);
            uri.port = uri.mqtt_port;
            match self.log_in_by_mqtt(&uri, identity) {
                Ok(client) => return Ok((client, uri.address())),
                Err(error) => last = Some(error),
            }
        }
        Err(last.expect("there is at least one address"))
    }

    fn log_in_by_mqtt(
        &self,
        uri: &Uri,
        identity: MqttIdentity<'_>,
    ) -> Result<MqttClient, TopologyError> {
        let stream = self.open(uri).map_err(|error| TopologyError::NoMqtt {
            address: uri.address(),
            reason: error.to_string(),
        })?;
        let login = Login {
            version: identity.version,
            user: uri.user.clone(),
            password: uri.password().to_owned(),
            vhost: uri.vhost.clone(),
            mechanism: match uri.mechanism {
                AmqpMechanism::Plain => Mechanism::Plain,
                AmqpMechanism::External => Mechanism::External,
                AmqpMechanism::Anonymous => Mechanism::Anonymous,
            },
            client_id: identity.client_id.to_owned(),
            keep_alive_seconds: uri.heartbeat_seconds,
            receive_maximum: identity.receive_maximum,
        };
        Client::log_in(stream, login, self.timeout()).map_err(|error| login_failed(uri, error))
    }
}

/// Converts the error of a request on an open connection. `doing` names the request.
pub fn mqtt_error(address: &str, doing: &str, error: ClientError) -> TopologyError {
    let (address, doing) = (address.to_owned(), doing.to_owned());
    match error {
        ClientError::Refused(reason) => TopologyError::MqttRefused {
            address,
            doing,
            reason: reason.to_string(),
            is_permission: reason == Reason::NOT_AUTHORIZED,
        },
        error => TopologyError::Broken { address, doing, reason: error.to_string() },
    }
}

/// Converts the error of a login.
fn login_failed(uri: &Uri, error: ClientError) -> TopologyError {
    let address = uri.address();
    match error {
        ClientError::Connection(ConnectionError::LoginRefused(reason)) => {
            TopologyError::MqttRefused {
                address,
                doing: format!("user `{}` in virtual host `{}`", uri.user, uri.vhost),
                reason: reason.to_string(),
                is_permission: matches!(reason, Reason::CREDENTIALS | Reason::NOT_AUTHORIZED),
            }
        }
        ClientError::Connection(error @ ConnectionError::VersionUnknown(_)) => {
            TopologyError::MqttRefused {
                address,
                doing: "the login".to_owned(),
                reason: format!("{error}; leave `mqtt-version` out for MQTT 3.1.1"),
                is_permission: false,
            }
        }
        error => TopologyError::NoMqtt { address, reason: error.to_string() },
    }
}
