//! Findings: advice with its evidence.

use serde::{Deserialize, Serialize};

use super::SourceLevel;

/// The severity of a finding.
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
    /// Method, header and body of publishes travel in separate segments.
    FrameByFrame,
    /// Many small segments.
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
    /// Every message is acknowledged individually.
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
    /// The broker takes long for logins.
    SlowLogin,
    /// AMQP 1.0 reports an error condition.
    Amqp10Error,
    /// The stream protocol refuses a command.
    StreamRefused,
    /// MQTT refuses a packet, or disconnects.
    MqttRefused,
    /// MQTT clients are disconnected repeatedly.
    MqttLoop,
    /// TLS meets plain text, or the protocol is a different one.
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
    /// A TCP connection ends without a closing frame.
    ClosedWithout,
    /// A connection for each message.
    ConnectionChurn,
    /// A channel for each message.
    ChannelChurn,
}

impl FindingRule {
    /// Returns the subject of the rule, as used in a list.
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
            Self::SlowLogin => "slow logins",
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

/// A rule that could not judge the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct NotJudged {
    /// The rule.
    pub rule: FindingRule,
    /// The reason, in words.
    pub reason: String,
}

/// A finding, with its remedy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Finding {
    /// The rule.
    pub rule: FindingRule,
    /// The severity.
    pub severity: Severity,
    /// The problem, in a sentence.
    pub sentence: String,
    /// Source of the evidence. Reports of earlier versions lack it; most evidence is from packets.
    #[serde(default = "packets")]
    pub source: SourceLevel,
    /// The figures behind it, in words.
    pub evidence: String,
    /// The remedy.
    pub fix: String,
    /// Connections that show it, `client -> broker`, the worst first, at most ten.
    pub connections: Vec<String>,
    /// Number of connections that show it.
    pub connections_in_all: u64,
    /// Numbers of the packets that show it, at most ten.
    pub packets: Vec<u64>,
}

const fn packets() -> SourceLevel {
    SourceLevel::Packets
}
