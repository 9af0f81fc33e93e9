//! Findings: advice with its evidence.

use serde::{Deserialize, Serialize};

use super::SourceLevel;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Costs time or throughput.
    Warning,
    /// Connections will fail.
    Critical,
}

/// The rule behind a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingRule {
    /// Method, header and body of publishes travel in segments of their own.
    FrameByFrame,
    /// Small segments, many of them.
    SmallPackets,
    /// Nagle's algorithm waits for a delayed acknowledgement.
    DelayedAcknowledgement,
    /// A receiver had no room.
    ZeroWindow,
    /// The reader is slower than the writer.
    ReceiverLimited,
    /// The send buffer is too small.
    SendBufferLimited,
    /// The path is the limit.
    NetworkLimited,
    /// The application had nothing to send.
    ApplicationLimited,
    /// Every message is acknowledged by itself.
    AckPerMessage,
    /// The capture lost packets.
    CaptureLoss,
    /// A client polls with `basic.get`.
    Polling,
    /// Connections are closed with an error.
    ConnectionClosed,
    /// Channels are closed with an error.
    ChannelClosed,
    /// Messages are returned.
    MessageReturned,
    /// The broker refuses publishes.
    PublishRefused,
    /// Clients refuse deliveries.
    DeliveryRefused,
    /// The broker blocks publishers.
    ConnectionBlocked,
    /// The broker cancels consumers.
    ConsumerCancelled,
    /// The broker refuses logins.
    LoginRefused,
    /// AMQP 1.0 reports an error condition.
    Amqp10Error,
    /// The stream protocol refuses a command.
    StreamRefused,
    /// MQTT refuses something, or disconnects.
    MqttRefused,
    /// Clients of MQTT are disconnected again and again.
    MqttLoop,
    /// TLS and plain text meet, or the protocol is another.
    WrongProtocol,
    /// TLS ends with an alert.
    TlsAlert,
    /// Heartbeats are missing.
    MissedHeartbeats,
    /// A connection is reset.
    ConnectionReset,
    /// A connection is reset after a long silence.
    IdleReset,
    /// A connection is refused, or not answered.
    ConnectionRefused,
    /// One end is gone and the other does not know.
    HalfOpen,
    /// A TCP connection ends without a word of the protocol.
    ClosedWithout,
    /// A connection for each message.
    ConnectionChurn,
    /// A channel for each message.
    ChannelChurn,
}

impl FindingRule {
    /// What it looks for, as a list has it.
    pub const fn title(self) -> &'static str {
        match self {
            Self::FrameByFrame => "publishes sent frame by frame",
            Self::SmallPackets => "many small packets",
            Self::DelayedAcknowledgement => "waits for delayed acknowledgements",
            Self::ZeroWindow => "receivers without room",
            Self::ReceiverLimited => "slow readers",
            Self::SendBufferLimited => "small send buffers",
            Self::NetworkLimited => "losses on the way",
            Self::ApplicationLimited => "applications with nothing to send",
            Self::AckPerMessage => "an acknowledgement for every message",
            Self::CaptureLoss => "losses of the capture",
            Self::Polling => "polling",
            Self::ConnectionClosed => "connections closed with an error",
            Self::ChannelClosed => "channels closed with an error",
            Self::MessageReturned => "returned messages",
            Self::PublishRefused => "refused publishes",
            Self::DeliveryRefused => "refused deliveries",
            Self::ConnectionBlocked => "blocked publishers",
            Self::ConsumerCancelled => "cancelled consumers",
            Self::LoginRefused => "refused logins",
            Self::Amqp10Error => "errors of AMQP 1.0",
            Self::StreamRefused => "refusals of the stream protocol",
            Self::MqttRefused => "refusals of MQTT",
            Self::MqttLoop => "loops of MQTT connections",
            Self::WrongProtocol => "wrong protocols",
            Self::TlsAlert => "alerts of TLS",
            Self::MissedHeartbeats => "missed heartbeats",
            Self::ConnectionReset => "resets",
            Self::IdleReset => "resets after silence",
            Self::ConnectionRefused => "refused connections",
            Self::HalfOpen => "half-open connections",
            Self::ClosedWithout => "ends without a close",
            Self::ConnectionChurn => "a connection for each message",
            Self::ChannelChurn => "a channel for each message",
        }
    }
}

/// A rule of which nothing is said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct NotJudged {
    /// Which rule.
    pub rule: FindingRule,
    /// Why, in words.
    pub reason: String,
}

/// One piece of advice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Finding {
    /// Which rule.
    pub rule: FindingRule,
    /// How bad.
    pub severity: Severity,
    /// What was found, in a sentence.
    pub sentence: String,
    /// Where the evidence comes from. A report of an earlier version does not say; most is from packets.
    #[serde(default = "packets")]
    pub source: SourceLevel,
    /// The figures behind it, in words.
    pub evidence: String,
    /// What to do.
    pub fix: String,
    /// Connections that show it, `client -> broker`, the worst first, ten at most.
    pub connections: Vec<String>,
    /// How many connections show it.
    pub connections_in_all: u64,
    /// Numbers of packets that it rests on, ten at most.
    pub packets: Vec<u64>,
}

const fn packets() -> SourceLevel {
    SourceLevel::Packets
}
