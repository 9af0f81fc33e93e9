//! A connection of any protocol.

use super::{
    amqp10::Sessions,
    amqp091::{Channels, TurnFigures},
    latency::{Latency, add},
    mqtt::Packets,
    rabbitmq_stream::Publishers,
    replies::Replies,
};
use crate::{
    packet::Timestamp,
    protocols::{Frame, Loss, Protocol, Skipped},
    report::{LatencyKind, Side, Unmatched},
};

/// Matches the frames of a connection.
#[derive(Clone, Debug, Default)]
pub struct Exchanges {
    connection: u64,
    channels: Channels,
    sessions: Sessions,
    publishers: Publishers,
    packets: Packets,
}

impl Exchanges {
    /// Creates the state of the connection with this number. The number must be unique among connections that share a
    /// [`Replies`].
    pub fn new(connection: u64) -> Self {
        Self { connection, ..Self::default() }
    }

    /// Processes the next frame of either direction. Each latency that it ends goes to `sink`.
    #[inline]
    pub fn frame(
        &mut self,
        frame: &Frame<'_>,
        replies: &mut Replies,
        sink: &mut impl FnMut(&Latency),
    ) {
        match frame.protocol {
            Protocol::Amqp091 => self.channels.frame(self.connection, frame, replies, sink),
            Protocol::Amqp10 => self.sessions.frame(frame, sink),
            Protocol::RabbitmqStream => self.publishers.frame(frame, sink),
            Protocol::Mqtt => self.packets.frame(frame, sink),
            Protocol::Tls => {}
        }
    }

    /// Records that frames of one side cannot be read.
    pub fn lost(&mut self, loss: &Loss) {
        self.channels.lose(loss.sender);
        self.sessions.lose(loss.sender);
        self.publishers.lose(loss.sender);
        self.packets.lose(loss.sender);
    }

    /// Records that frames of one side can be read again.
    pub fn found(&mut self, skipped: &Skipped) {
        // Bytes skipped before the first readable frame may have settled something.
        if !skipped.range.is_empty() {
            self.channels.lose(skipped.sender);
        }
        self.channels.find(skipped.sender);
        self.sessions.find(skipped.sender);
        self.publishers.find(skipped.sender);
        self.packets.find(skipped.sender);
    }

    /// Records whether the other side has bytes of `sender` that were not seen.
    pub fn behind(&mut self, sender: Side, is_behind: bool) {
        self.channels.behind(sender, is_behind);
    }

    /// Records that bytes of one side never arrived. The bytes after them are read at this time, whenever they arrived.
    pub fn gap(&mut self, sender: Side, time: Timestamp) {
        self.channels.gap(sender, time);
    }

    /// Returns the unmatched frames so far, including open ones. For [`LatencyKind::RequestToReply`] see
    /// [`Replies::unmatched`].
    pub fn unmatched(&self, kind: LatencyKind) -> Unmatched {
        let others = [
            self.sessions.unmatched(kind),
            self.publishers.unmatched(kind),
            self.packets.unmatched(kind),
        ];
        others.into_iter().fold(self.channels.unmatched(kind), add)
    }

    /// Returns the largest number of published and unconfirmed messages of a channel, session or publisher; 0 if their
    /// numbers are unknown.
    pub fn most_unconfirmed(&self) -> u64 {
        self.channels
            .most_unconfirmed()
            .max(self.sessions.most_open(Side::Client))
            .max(self.publishers.most_unconfirmed())
            .max(self.packets.most_open(Side::Client))
    }

    /// Returns the turns of all channels of AMQP 0-9-1.
    pub(crate) fn turns(&self) -> TurnFigures {
        self.channels.turns()
    }

    /// Returns the largest number of delivered and unacknowledged messages of a channel or session.
    pub fn most_unacknowledged(&self) -> u64 {
        self.channels
            .most_unacknowledged()
            .max(self.sessions.most_open(Side::Broker))
            .max(self.packets.most_open(Side::Broker))
    }

    /// Returns the number of channels and sessions in use.
    pub fn channels(&self) -> u64 {
        self.channels.count() + self.sessions.count()
    }
}
