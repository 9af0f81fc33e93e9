//! Problems on connections, in the words of the side that reports them.

use serde::{Deserialize, Serialize};

use super::Side;
use crate::packet::Timestamp;

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EventKind {
    /// `connection.close` with the code of an error.
    ConnectionClosed,
    /// `channel.close` with the code of an error.
    ChannelClosed,
    /// `channel.close` in answer to a passive declaration of something that does not exist.
    NotThere,
    /// `basic.return`: a message that was not routed.
    Returned,
    /// The broker refused a publish: `basic.nack`, or an error of the stream protocol.
    PublishRefused,
    /// A client refused a delivery.
    DeliveryRefused,
    /// `connection.blocked`
    Blocked,
    /// The broker cancelled a consumer.
    ConsumerCancelled,
    /// The broker refused a login.
    LoginRefused,
    /// The broker took a second or more for a step of the login.
    SlowLogin,
    /// An error condition of AMQP 1.0.
    Amqp10Error,
    /// An answer of the stream protocol other than "ok".
    StreamRefused,
    /// A reason code of MQTT that means failure.
    MqttRefused,
    /// `DISCONNECT` of MQTT by the broker, with its reason.
    MqttDisconnected,
    /// A fatal alert of TLS.
    TlsAlert,
    /// A TLS hello to a port without TLS.
    TlsOnPlainPort,
    /// A protocol without TLS to a port of TLS.
    PlainOnTlsPort,
    /// The broker answered with a protocol other than the client's.
    ProtocolRefused,
    /// A side was silent for at least two heartbeat intervals.
    MissedHeartbeats,
    /// A side reset the connection.
    Reset,
    /// The connection was reset after a long silence.
    IdleReset,
    /// A SYN that was answered by a reset.
    Refused,
    /// A SYN without an answer.
    Unanswered,
    /// A side that does not answer repeated retransmissions.
    HalfOpen,
    /// The end of the TCP connection without a closing frame.
    ClosedWithout,
    /// A connection that was opened and closed for at most one message.
    ShortLived,
}

/// Equal events: the same kind, side, code and text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ConnectionEvent {
    /// The kind.
    pub kind: EventKind,
    /// The side that caused it.
    pub from: Side,
    /// The protocol's code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<u32>,
    /// The text that came with it, or a description. It may come from a peer: escape it when you show it.
    pub text: String,
    /// Number of occurrences.
    pub count: u64,
    /// Time of the first one.
    pub first: Timestamp,
    /// Time of the last one.
    pub last: Timestamp,
    /// Connections, `client -> broker`, at most ten.
    pub connections: Vec<String>,
    /// Number of connections, as far as they could be distinguished.
    pub connections_in_all: u64,
    /// Numbers of the first packets that show it, at most ten.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub packets: Vec<u64>,
}

impl ConnectionEvent {
    /// The text of an end before the login is complete. An old client is not told the reason.
    pub(crate) const DURING_LOGIN: &str = "during the login";
    /// The text of an end of MQTT. MQTT 3 has no packet in which a broker could state the reason.
    pub(crate) const WITHOUT_DISCONNECT: &str = "without DISCONNECT";
}
