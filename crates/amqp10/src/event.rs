//! Events of a connection.

use std::borrow::Cow;

use rabbitscope_protocol::sections;

use crate::{error::Refusal, message::received, outcome::Outcome};

/// Something that the broker said. A *lane* is a session with its only link.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The login is complete.
    Opened,
    /// A link is attached.
    Attached {
        /// Its session.
        lane: u16,
    },
    /// The broker refused a link, or ended it later. Its session is over.
    Ended {
        /// Its session.
        lane: u16,
        /// Its address. Empty for a sender without one.
        address: String,
        /// The reason.
        refusal: Refusal,
    },
    /// The broker has agreed to detach a link.
    Detached {
        /// Its session.
        lane: u16,
    },
    /// The broker has told the window of its session, and the credit of the link.
    Room {
        /// The session.
        lane: u16,
    },
    /// The broker takes no messages, because of an alarm.
    Blocked {
        /// The session.
        lane: u16,
    },
    /// The broker takes messages again.
    Unblocked {
        /// The session.
        lane: u16,
    },
    /// The fate of sent messages, by their positions in the session, from 1.
    Settled {
        /// The session.
        lane: u16,
        /// The first message.
        first: u64,
        /// The last message.
        last: u64,
        /// The fate of all of them.
        outcome: Outcome,
    },
    /// A message.
    Delivery(Delivery<'a>),
    /// The broker has agreed to close the connection.
    Closed,
}

/// A message that was received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery<'a> {
    /// The session.
    pub lane: u16,
    /// Its number in the session, whose low 32 bits are the protocol's `delivery-id`.
    pub number: u64,
    /// True if the broker expects no outcome.
    pub settled: bool,
    /// The sections of the message. They are copied only if they came in several frames.
    pub bytes: Cow<'a, [u8]>,
}

impl Delivery<'_> {
    /// Returns the first bytes or text of the body; empty if the message has none.
    #[inline]
    pub fn body(&self) -> &[u8] {
        sections::body(&self.bytes).unwrap_or_default()
    }

    /// Returns the bytes or text of a property of the application.
    pub fn property(&self, name: &str) -> Option<&[u8]> {
        sections::property(&self.bytes, name)
    }

    /// Returns whether it may have been delivered before.
    #[inline]
    pub fn is_redelivered(&self) -> bool {
        received::is_redelivered(&self.bytes)
    }

    /// Returns its offset, if it comes from a stream.
    pub fn stream_offset(&self) -> Option<u64> {
        received::stream_offset(&self.bytes)
    }
}
