//! Events of a connection, borrowed from the received bytes.

use std::borrow::Cow;

use crate::{error::Refusal, method::Reply};

/// An event of a connection.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The handshake is complete; limits are known.
    Opened,
    /// The connection is closed after [`Connection::close`](crate::Connection::close).
    Closed,
    /// A channel can be used.
    ChannelOpened {
        /// Its number.
        channel: u16,
    },
    /// A channel cannot be used any more.
    ChannelClosed {
        /// Its number.
        channel: u16,
        /// The broker's reason; `None` if the client has closed it.
        refusal: Option<Refusal>,
    },
    /// A message for a consumer.
    Delivery(Delivery<'a>),
    /// A message for `basic.get`; the consumer tag is empty.
    Got {
        /// The message.
        delivery: Delivery<'a>,
        /// Messages that are still ready.
        messages: u32,
    },
    /// There was no message for `basic.get`.
    GetEmpty {
        /// Channel number.
        channel: u16,
    },
    /// A message that could not be routed.
    Returned(Returned<'a>),
    /// Messages were confirmed or refused, for [`crate::ConfirmRing::settle`].
    Confirm {
        /// Channel number.
        channel: u16,
        /// Sequence number.
        tag: u64,
        /// All up to it.
        multiple: bool,
        /// `basic.ack`; otherwise `basic.nack`.
        accepted: bool,
    },
    /// The answer to a request.
    Reply {
        /// Channel number.
        channel: u16,
        /// The answer.
        reply: Reply,
    },
    /// The broker ended a consumer, for example because its queue was deleted.
    ConsumerCancelled {
        /// Channel number.
        channel: u16,
        /// Its tag.
        consumer_tag: String,
    },
    /// The broker stops or restarts the flow of a channel (it answers itself).
    Flow {
        /// Channel number.
        channel: u16,
        /// Messages may be sent.
        active: bool,
    },
    /// The broker takes no messages because of an alarm.
    Blocked {
        /// The broker's reason.
        reason: String,
    },
    /// The alarm is over.
    Unblocked,
}

/// A message for a consumer. Strings are bytes as they were sent. Everything is borrowed from what
/// was read, unless the message came in several pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery<'a> {
    /// Channel number.
    pub channel: u16,
    /// Tag of the consumer.
    pub consumer_tag: Cow<'a, [u8]>,
    /// For acknowledgements on the same channel.
    pub delivery_tag: u64,
    /// It may have been delivered before.
    pub redelivered: bool,
    /// Exchange that it was published to.
    pub exchange: Cow<'a, [u8]>,
    /// Its routing key.
    pub routing_key: Cow<'a, [u8]>,
    /// For [`crate::Properties::parse`].
    pub properties: Cow<'a, [u8]>,
    /// Its body.
    pub body: Cow<'a, [u8]>,
}

/// A message that could not be routed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Returned<'a> {
    /// Channel number.
    pub channel: u16,
    /// Reply code, 312 for no route.
    pub code: u16,
    /// The broker's words.
    pub text: String,
    /// Exchange that it was published to.
    pub exchange: Cow<'a, [u8]>,
    /// Its routing key.
    pub routing_key: Cow<'a, [u8]>,
    /// For [`crate::Properties::parse`].
    pub properties: Cow<'a, [u8]>,
    /// Its body.
    pub body: Cow<'a, [u8]>,
}
