//! The table of rules. Of findings that are as bad as one another the one that stands first here comes first: causes before
//! what follows from them.

use std::time::Duration;

use super::{
    events::{self, channel_churn, connection_churn},
    hit::Case,
    losses::{capture_loss, network_limited},
    minimum::Minimum,
    rules::Rule,
    segments::{ack_per_message, frame_by_frame, polling, small_packets},
    waits::{application_limited, delayed_acknowledgement},
    windows::{receiver_limited, send_buffer_limited, zero_window},
};
use crate::report::{EventKind, FindingRule, PacketReport, SourceLevel};

const PACKETS: &[SourceLevel] = &[SourceLevel::Packets];
const DATA: &str = "segments with data";

/// A rule that shows by a single event.
macro_rules! event_rule {
    ($name:ident, $($kind:ident),+) => {
        Rule {
            name: FindingRule::$name,
            sources: PACKETS,
            minimum: Minimum::ONE,
            cases: {
                fn cases(report: &PacketReport) -> Result<Vec<Case>, String> {
                    Ok(events::cases(report, &[$(EventKind::$kind),+]))
                }
                cases
            },
        }
    };
}

/// All rules.
pub(super) const RULES: [Rule; 32] = [
    Rule {
        name: FindingRule::CaptureLoss,
        sources: PACKETS,
        minimum: Minimum::new(1, "packets", Duration::ZERO),
        cases: capture_loss,
    },
    event_rule!(WrongProtocol, TlsOnPlainPort, PlainOnTlsPort, ProtocolRefused),
    event_rule!(TlsAlert, TlsAlert),
    event_rule!(LoginRefused, LoginRefused),
    event_rule!(ConnectionRefused, Refused, Unanswered),
    event_rule!(ConnectionClosed, ConnectionClosed),
    event_rule!(ChannelClosed, ChannelClosed),
    event_rule!(Amqp10Error, Amqp10Error),
    event_rule!(MqttRefused, MqttRefused, MqttDisconnected),
    event_rule!(StreamRefused, StreamRefused),
    event_rule!(MissedHeartbeats, MissedHeartbeats),
    event_rule!(HalfOpen, HalfOpen),
    event_rule!(IdleReset, IdleReset),
    event_rule!(ConnectionReset, Reset),
    event_rule!(ClosedWithout, ClosedWithout),
    event_rule!(ConnectionBlocked, Blocked),
    event_rule!(PublishRefused, PublishRefused),
    event_rule!(MessageReturned, Returned),
    event_rule!(ConsumerCancelled, ConsumerCancelled),
    event_rule!(DeliveryRefused, DeliveryRefused),
    Rule {
        name: FindingRule::ConnectionChurn,
        sources: PACKETS,
        minimum: Minimum::new(20, "connections", Duration::from_millis(100)),
        cases: connection_churn,
    },
    Rule {
        name: FindingRule::ChannelChurn,
        sources: PACKETS,
        minimum: Minimum::new(20, "channels", Duration::from_millis(20)),
        cases: channel_churn,
    },
    Rule {
        name: FindingRule::ZeroWindow,
        sources: PACKETS,
        minimum: Minimum::new(2, "segments", Duration::from_millis(200)),
        cases: zero_window,
    },
    Rule {
        name: FindingRule::DelayedAcknowledgement,
        sources: PACKETS,
        minimum: Minimum::new(6, DATA, Duration::from_millis(120)),
        cases: delayed_acknowledgement,
    },
    Rule {
        name: FindingRule::ReceiverLimited,
        sources: &[SourceLevel::Sockets, SourceLevel::Packets],
        minimum: Minimum::new(100, DATA, Duration::from_secs(1)),
        cases: receiver_limited,
    },
    Rule {
        name: FindingRule::SendBufferLimited,
        sources: &[SourceLevel::Sockets],
        minimum: Minimum::new(100, DATA, Duration::from_secs(1)),
        cases: send_buffer_limited,
    },
    Rule {
        name: FindingRule::NetworkLimited,
        sources: PACKETS,
        minimum: Minimum::new(100, DATA, Duration::from_millis(100)),
        cases: network_limited,
    },
    Rule {
        name: FindingRule::FrameByFrame,
        sources: PACKETS,
        minimum: Minimum::new(500, "segments with publishes", Duration::from_millis(250)),
        cases: frame_by_frame,
    },
    Rule {
        name: FindingRule::AckPerMessage,
        sources: PACKETS,
        minimum: Minimum::new(100, "acknowledgements", Duration::from_millis(20)),
        cases: ack_per_message,
    },
    Rule {
        name: FindingRule::SmallPackets,
        sources: PACKETS,
        minimum: Minimum::new(1_000, DATA, Duration::from_millis(500)),
        cases: small_packets,
    },
    Rule {
        name: FindingRule::ApplicationLimited,
        sources: PACKETS,
        minimum: Minimum::new(100, "messages", Duration::from_millis(100)),
        cases: application_limited,
    },
    Rule {
        name: FindingRule::Polling,
        sources: PACKETS,
        minimum: Minimum::new(20, "requests for a message", Duration::from_millis(20)),
        cases: polling,
    },
];
