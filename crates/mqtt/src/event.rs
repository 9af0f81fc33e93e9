//! Events of a connection.

use std::borrow::Cow;

use crate::protocol::{properties, reason::Reason};

/// Something that the broker said.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The login is complete.
    Opened,
    /// The answer to a request to subscribe or unsubscribe.
    Answer {
        /// Identifier of the request's packet.
        packet: u16,
        /// The first refusal, or success.
        reason: Reason,
    },
    /// The broker acknowledged messages, by their positions on the connection, from 1.
    Confirmed {
        /// The first message.
        first: u64,
        /// The last message.
        last: u64,
        /// Success, or another reason of MQTT 5. MQTT 3.1.1 has no other.
        reason: Reason,
    },
    /// A message.
    Delivery(Message<'a>),
    /// The answer to [`Connection::ping`](crate::Connection::ping). The broker has read everything before it.
    Pong,
}

/// A message for a subscription. It is borrowed from the read bytes unless it is large and arrived in pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// Topic as unconverted bytes.
    pub topic: Cow<'a, [u8]>,
    /// Packet identifier for the acknowledgement; absent if the broker expects none.
    pub packet: Option<u16>,
    /// The message may have been delivered before.
    pub is_duplicate: bool,
    /// Its encoded properties; empty without MQTT 5.
    pub properties: Cow<'a, [u8]>,
    /// Its body.
    pub body: Cow<'a, [u8]>,
}

impl Message<'_> {
    /// Returns the value of a user property; `None` if the message has none of this name.
    pub fn user_property(&self, name: &str) -> Option<&[u8]> {
        properties::user_property(&self.properties, name)
    }
}
