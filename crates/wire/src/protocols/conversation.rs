//! Both directions of a connection. Each informs the other of its protocol, and of the level of MQTT.

use super::{
    dissector::Dissector,
    frame::{Protocol, peer_of},
    sink::FrameSink,
};
use crate::{
    report::Side,
    stream::{Chunk, Gap},
};

/// Reads frames from both directions of a connection.
#[derive(Debug)]
pub struct Conversation {
    client: Dissector,
    broker: Dissector,
}

impl Default for Conversation {
    fn default() -> Self {
        Self { client: Dissector::new(Side::Client), broker: Dissector::new(Side::Broker) }
    }
}

impl Conversation {
    /// Keeps the arguments of all frames to come, see [`super::Frame::arguments`].
    pub const fn keep_arguments(&mut self) {
        self.client.keep_arguments();
        self.broker.keep_arguments();
    }

    /// Reads the next bytes of a direction.
    pub fn chunk(&mut self, sender: Side, chunk: &Chunk<'_>, sink: &mut impl FrameSink) {
        let dissector = self.direction_mut(sender);
        let known = dissector.protocol();
        dissector.chunk(chunk, sink);
        let (now, is_opened) = (dissector.protocol(), dissector.is_opened());
        let level = dissector.level();
        if let (None, Some(protocol)) = (known, now) {
            self.direction_mut(peer_of(sender)).expect(protocol, is_opened);
        }
        if let Some(level) = level {
            self.direction_mut(peer_of(sender)).expect_level(level);
        }
    }

    /// Processes a gap: bytes of a direction are missing.
    pub fn gap(&mut self, sender: Side, gap: &Gap, sink: &mut impl FrameSink) {
        self.direction_mut(sender).gap(gap, sink);
    }

    /// Returns the protocol, once it is known.
    pub const fn protocol(&self) -> Option<Protocol> {
        match self.client.protocol() {
            Some(protocol) => Some(protocol),
            None => self.broker.protocol(),
        }
    }

    /// Returns one direction.
    pub const fn direction(&self, sender: Side) -> &Dissector {
        match sender {
            Side::Client => &self.client,
            Side::Broker => &self.broker,
        }
    }

    const fn direction_mut(&mut self, sender: Side) -> &mut Dissector {
        match sender {
            Side::Client => &mut self.client,
            Side::Broker => &mut self.broker,
        }
    }
}
