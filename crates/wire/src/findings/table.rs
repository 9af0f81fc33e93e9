//! The table of rules. Among findings of equal severity, the one that stands first here comes first: causes before
//! their consequences.

use std::time::Duration;

use super::{
    events::{self, channel_churn, connection_churn, mqtt_loop},
    losses::{capture_loss, network_limited, with_loss, without_count},
    minimum::Minimum,
    rules::Rule,
    segments::{ack_per_message, frame_by_frame, polling, small_packets},
    waits::{application_limited, delayed_acknowledgement},
    windows::{receiver_limited, send_buffer_limited, zero_window},
};
use crate::report::{EventKind, FindingRule, SourceLevel};

const PACKETS: &[SourceLevel] = &[SourceLevel::Packets];
const DATA: &str = "segments with data";

/// A rule for which a single frame is evidence.
macro_rules! frame_rule {
    ($name:ident, $($kind:ident),+) => {
        event_rule!($name, $($kind),+).unless(events::without_frames)
    };
}

/// A rule for which a single event is evidence.
macro_rules! event_rule {
    ($name:ident, $($kind:ident),+) => {
        Rule::new(FindingRule::$name, PACKETS, Minimum::ONE, |report| {
            events::cases(report, &[$(EventKind::$kind),+])
        })
    };
}

/// All rules.
pub(super) const RULES: [Rule; 34] = [
    Rule::new(
        FindingRule::CaptureLoss,
        PACKETS,
        Minimum::new(1, "packets", Duration::ZERO),
        capture_loss,
    )
    .unless(without_count),
    event_rule!(WrongProtocol, TlsOnPlainPort, PlainOnTlsPort, ProtocolRefused),
    event_rule!(TlsAlert, TlsAlert),
    frame_rule!(LoginRefused, LoginRefused),
    event_rule!(SlowLogin, SlowLogin).unless(with_loss),
    event_rule!(ConnectionRefused, Refused, Unanswered),
    frame_rule!(ConnectionClosed, ConnectionClosed),
    frame_rule!(ChannelClosed, ChannelClosed, NotThere),
    frame_rule!(Amqp10Error, Amqp10Error),
    Rule::new(
        FindingRule::MqttLoop,
        PACKETS,
        Minimum::new(3, "connections of MQTT that the broker ended", Duration::ZERO),
        mqtt_loop,
    )
    .unless(events::without_frames),
    frame_rule!(MqttRefused, MqttRefused, MqttDisconnected),
    frame_rule!(StreamRefused, StreamRefused),
    event_rule!(MissedHeartbeats, MissedHeartbeats).unless(events::without_interval),
    event_rule!(HalfOpen, HalfOpen),
    event_rule!(IdleReset, IdleReset),
    event_rule!(ConnectionReset, Reset),
    frame_rule!(ClosedWithout, ClosedWithout),
    frame_rule!(ConnectionBlocked, Blocked),
    frame_rule!(PublishRefused, PublishRefused),
    frame_rule!(MessageReturned, Returned),
    frame_rule!(ConsumerCancelled, ConsumerCancelled),
    frame_rule!(DeliveryRefused, DeliveryRefused),
    Rule::new(
        FindingRule::ConnectionChurn,
        PACKETS,
        Minimum::new(20, "connections", Duration::from_millis(100)),
        connection_churn,
    )
    .unless(events::without_frames),
    Rule::new(
        FindingRule::ChannelChurn,
        PACKETS,
        Minimum::new(20, "channels", Duration::from_millis(20)),
        channel_churn,
    )
    .unless(events::without_frames),
    Rule::new(
        FindingRule::ZeroWindow,
        PACKETS,
        Minimum::new(2, "segments", Duration::from_millis(200)),
        zero_window,
    ),
    Rule::new(
        FindingRule::DelayedAcknowledgement,
        PACKETS,
        Minimum::new(6, DATA, Duration::from_millis(120)),
        delayed_acknowledgement,
    ),
    Rule::new(
        FindingRule::ReceiverLimited,
        &[SourceLevel::Sockets, SourceLevel::Packets],
        Minimum::new(100, DATA, Duration::from_secs(1)),
        receiver_limited,
    ),
    Rule::new(
        FindingRule::SendBufferLimited,
        &[SourceLevel::Sockets],
        Minimum::new(100, DATA, Duration::from_secs(1)),
        send_buffer_limited,
    ),
    Rule::new(
        FindingRule::NetworkLimited,
        PACKETS,
        Minimum::new(100, "segments with data between machines", Duration::from_millis(100)),
        network_limited,
    )
    .unless(with_loss),
    Rule::new(
        FindingRule::FrameByFrame,
        PACKETS,
        Minimum::new(500, "segments with publishes", Duration::from_millis(250)),
        frame_by_frame,
    ),
    Rule::new(
        FindingRule::AckPerMessage,
        PACKETS,
        Minimum::new(100, "acknowledgements", Duration::from_millis(20)),
        ack_per_message,
    ),
    Rule::new(
        FindingRule::SmallPackets,
        PACKETS,
        Minimum::new(1_000, DATA, Duration::from_millis(500)),
        small_packets,
    ),
    Rule::new(
        FindingRule::ApplicationLimited,
        PACKETS,
        Minimum::new(100, "messages with a known window", Duration::from_millis(100)),
        application_limited,
    ),
    Rule::new(
        FindingRule::Polling,
        PACKETS,
        Minimum::new(20, "requests for a message", Duration::from_millis(20)),
        polling,
    ),
];
