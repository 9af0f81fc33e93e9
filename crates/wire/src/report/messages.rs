//! Messages of a connection, and their distribution over segments.

use serde::{Deserialize, Serialize};

/// Messages of a connection. A figure is 0 if the protocol does not have the operation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct MessageFigures {
    /// Messages from the client.
    pub published: u64,
    /// Segments from the client that contain a publish or a part of one.
    pub publish_segments: u64,
    /// Publishes whose method, header and body began a segment each.
    pub frame_by_frame: u64,
    /// Packets of the first such publishes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frame_by_frame_packets: Vec<u64>,
    /// Confirms from the broker.
    pub confirms: u64,
    /// Confirms for several messages at once.
    pub multiple_confirms: u64,
    /// Largest number of published and unconfirmed messages of a channel.
    pub max_unconfirmed: u64,
    /// Turns of the client's channels: a publish, its confirm, the next publish, and nothing else between them. 0 for
    /// protocols other than AMQP 0-9-1.
    #[serde(default)]
    pub turns: u64,
    /// Time in these turns from the publish to the confirm, in nanoseconds.
    #[serde(default)]
    pub turn_wait_nanos: u64,
    /// Time in these turns from the confirm to the next publish, in nanoseconds: the client's own.
    #[serde(default)]
    pub turn_pause_nanos: u64,
    /// Messages to the client.
    pub delivered: u64,
    /// Segments from the broker that contain a delivery or a part of one.
    pub delivery_segments: u64,
    /// Acknowledgements from the client.
    pub acks: u64,
    /// Acknowledgements for several messages at once.
    pub multiple_acks: u64,
    /// Segments from the client that contain an acknowledgement.
    pub ack_segments: u64,
    /// Packets of the first segments that contain only a single acknowledgement.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lone_ack_packets: Vec<u64>,
    /// Largest number of delivered and unacknowledged messages of a channel.
    pub max_unacknowledged: u64,
}

/// Share of the publishes, and their least number, from which turns alone show that there is no larger window.
const STRICT: f64 = 0.99;
const MIN_STRICT: u64 = 500;

impl MessageFigures {
    /// Returns whether a client takes turns all the time, and the broker confirms each message alone. The broker would
    /// confirm several of a full window at once now and then, and several publishes would follow.
    #[must_use]
    pub fn takes_turns(&self) -> bool {
        let is_each = self.turns as f64 >= STRICT * self.published.saturating_sub(1) as f64;
        is_each && self.multiple_confirms == 0 && self.turns >= MIN_STRICT
    }

    /// Returns whether at most one message is unconfirmed; none if that is unknown. Numbers of AMQP 0-9-1 are unknown if
    /// the capture began later than the channel.
    #[must_use]
    pub fn is_one_by_one(&self) -> Option<bool> {
        let is_in_rows = self.multiple_confirms > 0 || self.turns * 2 < self.published;
        match self.max_unconfirmed {
            0 if self.takes_turns() => Some(true),
            0 => is_in_rows.then_some(false),
            most => Some(most == 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_of_one_is_known_by_numbers_or_turns() {
        let messages = |published, turns, multiple_confirms, max_unconfirmed| MessageFigures {
            published,
            multiple_confirms,
            max_unconfirmed,
            turns,
            ..MessageFigures::default()
        };
        for (figures, expected) in [
            (messages(10, 0, 0, 1), Some(true)),
            (messages(10, 0, 0, 2), Some(false)),
            (messages(501, 500, 0, 0), Some(true)),
            (messages(501, 500, 0, 7), Some(false)),
            (messages(500, 499, 0, 0), None),
            (messages(1_000, 980, 0, 0), None),
            (messages(501, 500, 1, 0), Some(false)),
            (messages(1_000, 100, 0, 0), Some(false)),
        ] {
            assert_eq!(figures.is_one_by_one(), expected, "{figures:?}");
        }
    }
}
