//! Errors of connections to a broker and of its exchanges and queues.

use std::io;

use rabbitscope_amqp::BrokerRefusal;
use thiserror::Error;

/// Reason why a broker could not be reached or prepared. Every message names the next step.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TopologyError {
    /// No server answers there, or it does not speak AMQP.
    #[error("cannot reach a broker at {address}: {reason}; is it running, and is the port right?")]
    Unreachable {
        /// Host and port.
        address: String,
        /// The cause.
        reason: String,
    },
    /// The server does not prove to be the broker of the URI.
    #[error(
        "the certificate of the broker at {address} is not accepted: {reason}; give the authority that signed it with \
         `ca` in `[broker.tls]`, or for a bus with the environment variable SSL_CERT_FILE"
    )]
    NotTrusted {
        /// Host and port.
        address: String,
        /// The fault of the certificate.
        reason: String,
    },
    /// The port speaks TLS, but the URI asks for plain AMQP.
    #[error(
        "the server at {address} speaks TLS, but the URI asks for plain AMQP: start the URI with `amqps://`, or use \
         the port for plain AMQP (usually 5672)"
    )]
    SpeaksTls {
        /// Host and port.
        address: String,
    },
    /// The port does not speak TLS, but the URI asks for it.
    #[error(
        "the server at {address} does not speak TLS, but the URI asks for it: use the broker's port for AMQP with TLS \
         (usually 5671), or, if others may read the password, start the URI with `amqp://`"
    )]
    SpeaksNoTls {
        /// Host and port.
        address: String,
    },
    /// The port speaks a protocol other than AMQP 0-9-1.
    #[error(
        "the server at {address} does not speak AMQP 0-9-1: {reason}; use the broker's port for AMQP (usually 5672, \
         with TLS 5671), not the port of the management interface, of streams or of another node"
    )]
    SpeaksNoAmqp {
        /// Host and port.
        address: String,
        /// The cause.
        reason: String,
    },
    /// The broker refuses the user or the password.
    #[error("the broker at {address} refuses user `{user}`: {refusal}")]
    AuthenticationRefused {
        /// Host and port.
        address: String,
        /// User name.
        user: String,
        /// The broker's answer.
        refusal: BrokerRefusal,
    },
    /// The virtual host does not exist, or the user may not use it.
    #[error("the broker at {address} refuses virtual host `{vhost}`: {refusal}")]
    VhostRefused {
        /// Host and port.
        address: String,
        /// Virtual host.
        vhost: String,
        /// The broker's answer.
        refusal: BrokerRefusal,
    },
    /// A queue does not hold the messages that were to wait in it.
    #[error(
        "queue `{queue}` holds {held} of the {wanted} messages of `prefill`: remove its limit of length or its time to \
         live, or give fewer messages"
    )]
    NotFilled {
        /// Name of the queue.
        queue: String,
        /// Messages in it.
        held: u64,
        /// Messages that the broker has taken.
        wanted: u64,
    },
    /// A queue that the scenario uses without declaring it does not exist.
    #[error("queue `{queue}` does not exist on the broker: declare it with `[[queues]]`")]
    QueueMissing {
        /// Name of the queue.
        queue: String,
    },
    /// An exchange that the scenario uses does not exist.
    #[error("exchange `{exchange}` does not exist on the broker: declare it with `[[exchanges]]`")]
    ExchangeMissing {
        /// Name of the exchange.
        exchange: String,
    },
    /// The broker refuses to declare the queue as the scenario defines it.
    #[error("the broker refuses queue `{queue}`: {refusal}")]
    QueueRefused {
        /// Name of the queue.
        queue: String,
        /// The broker's answer.
        refusal: BrokerRefusal,
    },
    /// The broker refuses to declare or bind the exchange as the scenario defines it.
    #[error("the broker refuses exchange `{exchange}`: {refusal}")]
    ExchangeRefused {
        /// Name of the exchange.
        exchange: String,
        /// The broker's answer.
        refusal: BrokerRefusal,
    },
    /// The system provides no random numbers.
    #[error("the system has no random bytes: {source}")]
    NoToken {
        /// The cause.
        source: io::Error,
    },
    /// Any other refusal by the broker.
    #[error("the broker at {address} refused {doing}: {refusal}")]
    Refused {
        /// Host and port.
        address: String,
        /// The attempted operation.
        doing: String,
        /// The broker's answer.
        refusal: BrokerRefusal,
    },
    /// The connection broke during the preparation of the load.
    #[error("the connection to the broker at {address} broke while {doing}: {reason}")]
    Broken {
        /// Host and port.
        address: String,
        /// The attempted operation.
        doing: String,
        /// The cause.
        reason: String,
    },
    /// No server of streams answers there.
    #[error(
        "no server of streams answers at {address}: {reason}; enable it with `rabbitmq-plugins enable rabbitmq_stream`, \
         or give its port in the broker's URI (`?stream_port=5552`)"
    )]
    NoStreams {
        /// Host and port.
        address: String,
        /// The cause.
        reason: String,
    },
    /// A refusal over the stream protocol.
    #[error("the broker at {address} refused {doing}: {reason}")]
    StreamRefused {
        /// Host and port.
        address: String,
        /// The attempted operation.
        doing: String,
        /// The cause.
        reason: String,
        /// True if the user may not do it.
        is_permission: bool,
    },
    /// The port does not speak AMQP 1.0.
    #[error(
        "the server at {address} does not speak AMQP 1.0: {reason}; use the port of AMQP 0-9-1, and before RabbitMQ 4.0 \
         enable it with `rabbitmq-plugins enable rabbitmq_amqp1_0`"
    )]
    NoAmqp10 {
        /// Host and port.
        address: String,
        /// The cause.
        reason: String,
    },
    /// No server of MQTT answers there.
    #[error(
        "no server of MQTT answers at {address}: {reason}; enable it with `rabbitmq-plugins enable rabbitmq_mqtt`, \
         or give its port in the broker's URI (`?mqtt_port=1883`)"
    )]
    NoMqtt {
        /// Host and port.
        address: String,
        /// The cause.
        reason: String,
    },
    /// A refusal over AMQP 1.0.
    #[error("the broker at {address} refused {doing}: {reason}")]
    LinkRefused {
        /// Host and port.
        address: String,
        /// The attempted operation.
        doing: String,
        /// The cause.
        reason: String,
        /// True if the user may not do it.
        is_permission: bool,
    },
    /// A refusal over MQTT.
    #[error("the broker at {address} refused {doing}: {reason}")]
    MqttRefused {
        /// Host and port.
        address: String,
        /// The attempted operation.
        doing: String,
        /// The cause.
        reason: String,
        /// True if the user may not do it.
        is_permission: bool,
    },
    /// EXTERNAL authentication without a certificate.
    #[error("`auth = \"external\"` logs in by a certificate: every URI must start with `amqps://`")]
    ExternalWithoutTls,
    /// A file that the scenario names cannot be used.
    #[error("cannot use {path}: {source}")]
    File {
        /// The path, as the scenario names it.
        path: String,
        /// The cause.
        source: io::Error,
    },
    /// Certificates or keys that TLS cannot use.
    #[error("cannot {doing}: {reason}")]
    Tls {
        /// The attempted operation.
        doing: String,
        /// The fault.
        reason: String,
    },
}

impl TopologyError {
    /// Returns whether no broker was reached at all: the program's exit code 5.
    pub fn is_unreachable(&self) -> bool {
        matches!(
            self,
            Self::Unreachable { .. }
                | Self::NotTrusted { .. }
                | Self::SpeaksTls { .. }
                | Self::SpeaksNoTls { .. }
                | Self::SpeaksNoAmqp { .. }
                | Self::NoStreams { .. }
                | Self::NoAmqp10 { .. }
                | Self::NoMqtt { .. }
        )
    }

    /// Returns whether the next attempt may succeed, because a broker that is starting may answer later.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::SpeaksNoAmqp { .. })
    }

    /// Returns whether the broker refuses the user or this operation: the program's exit code 6.
    pub fn is_permission(&self) -> bool {
        match self {
            Self::AuthenticationRefused { refusal, .. }
            | Self::VhostRefused { refusal, .. }
            | Self::QueueRefused { refusal, .. }
            | Self::ExchangeRefused { refusal, .. }
            | Self::Refused { refusal, .. } => refusal.is_permission(),
            Self::StreamRefused { is_permission, .. }
            | Self::LinkRefused { is_permission, .. }
            | Self::MqttRefused { is_permission, .. } => *is_permission,
            _ => false,
        }
    }

    /// Returns whether the scenario's settings cannot be used: the program's exit code 2.
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::ExternalWithoutTls | Self::File { .. } | Self::Tls { .. })
    }
}
