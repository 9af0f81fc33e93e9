//! What went wrong on connections, in the words of whoever said so.

use serde::{Deserialize, Serialize};

use super::Side;
use crate::packet::Timestamp;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EventKind {
    /// `connection.close` with the code of an error.
    ConnectionClosed,
    /// `channel.close` with the code of an error.
    ChannelClosed,
    /// `channel.close` as the answer to a passive declaration of something that is not there.
    NotThere,
    /// `basic.return`: a message that was not routed.
    Returned,
    /// The broker did not take a publish: `basic.nack`, an error of the stream protocol.
    PublishRefused,
    /// A client refused a delivery.
    DeliveryRefused,
    /// `connection.blocked`
    Blocked,
    /// The broker cancelled a consumer.
    ConsumerCancelled,
    /// The broker did not let a client in.
    LoginRefused,
    /// An error condition of AMQP 1.0.
    Amqp10Error,
    /// An answer of the stream protocol that is not "ok".
    StreamRefused,
    /// A reason code of MQTT that says failure.
    MqttRefused,
    /// `DISCONNECT` of MQTT by the broker, with its reason.
    MqttDisconnected,
    /// A fatal alert of TLS.
    TlsAlert,
    /// A hello of TLS to a port that does not speak it.
    TlsOnPlainPort,
    /// A protocol without TLS to a port of TLS.
    PlainOnTlsPort,
    /// The broker answered with another protocol than the client's.
    ProtocolRefused,
    /// A side was silent for two intervals of heartbeats or more.
    MissedHeartbeats,
    /// A side reset the connection.
    Reset,
    /// The connection was reset after a long silence.
    IdleReset,
    /// A SYN that was answered by a reset.
    Refused,
    /// A SYN that was not answered.
    Unanswered,
    /// A side that does not answer what is sent to it again and again.
    HalfOpen,
    /// The end of the TCP connection without a word of the protocol.
    ClosedWithout,
    /// A connection that was opened and closed for hardly a message.
    ShortLived,
}

/// Events that are alike: the same kind, side, code and text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ConnectionEvent {
    /// What happened.
    pub kind: EventKind,
    /// Whose doing it was.
    pub from: Side,
    /// The protocol's code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<u32>,
    /// The text that came with it, or what was seen. It may be foreign: show it escaped.
    pub text: String,
    /// How often.
    pub count: u64,
    /// The first one.
    pub first: Timestamp,
    /// The last one.
    pub last: Timestamp,
    /// Connections, `client -> broker`, ten at most.
    pub connections: Vec<String>,
    /// How many there are, as far as they were told apart.
    pub connections_in_all: u64,
    /// Numbers of the first packets that said so, ten at most.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub packets: Vec<u64>,
}

impl ConnectionEvent {
    /// The text of an end before the client is let in. An old client is not told why.
    pub(crate) const DURING_LOGIN: &str = "during the login";
    /// The text of an end of MQTT. MQTT 3 has no word by which a broker could say why.
    pub(crate) const WITHOUT_DISCONNECT: &str = "without DISCONNECT";
}
