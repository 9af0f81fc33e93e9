//! Events of a connection, borrowed from the received bytes.

use std::borrow::Cow;

use crate::{error::Refusal, method::Reply};

/// An event of a connection.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The handshake is complete and the limits are known.
    Opened,
    /// The connection is closed after [`Wire::close`](rabbitscope_protocol::Wire::close).
    Closed,
    /// A channel is open.
    ChannelOpened {
        /// Its number.
        channel: u16,
    },
    /// A channel is closed.
    ChannelClosed {
        /// Its number.
        channel: u16,
        /// The broker's reason; `None` if the client closed it.
        refusal: Option<Refusal>,
    },
    /// A message for a consumer.
    Delivery(Delivery<'a>),
    /// A message for `basic.get`. Its consumer tag is empty.
    Got {
        /// The message.
        delivery: Delivery<'a>,
        /// Messages that are still ready.
        messages: u32,
    },
    /// The queue was empty for `basic.get`.
    GetEmpty {
        /// Channel number.
        channel: u16,
    },
    /// A message that could not be routed.
    Returned(Returned<'a>),
    /// Messages were confirmed or refused; an argument for [`ConfirmRing::settle`](rabbitscope_protocol::ConfirmRing::settle).
    Confirm {
        /// Channel number.
        channel: u16,
        /// Sequence number.
        tag: u64,
        /// The confirm covers all messages up to the sequence number.
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
    /// The broker cancelled a consumer, for example because its queue was deleted.
    ConsumerCancelled {
        /// Channel number.
        channel: u16,
        /// Its tag.
        consumer_tag: String,
    },
    /// The broker stops or restarts the flow of a channel. The connection itself answers.
    Flow {
        /// Channel number.
        channel: u16,
        /// True if messages may be sent.
        active: bool,
    },
    /// The broker blocks publishers because of an alarm.
    Blocked {
        /// The broker's reason.
        reason: String,
    },
    /// The alarm is over.
    Unblocked,
}

/// A message for a consumer. Strings are unconverted bytes. Everything is borrowed from the read buffer unless the
/// message arrived in several pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery<'a> {
    /// Channel number.
    pub channel: u16,
    /// Tag of the consumer.
    pub consumer_tag: Cow<'a, [u8]>,
    /// Tag for acknowledgements on the same channel.
    pub delivery_tag: u64,
    /// The message may have been delivered before.
    pub redelivered: bool,
    /// Exchange to which it was published.
    pub exchange: Cow<'a, [u8]>,
    /// Its routing key.
    pub routing_key: Cow<'a, [u8]>,
    /// Encoded properties, for [`crate::Properties::parse`].
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
    /// Reply text of the broker.
    pub text: String,
    /// Exchange to which it was published.
    pub exchange: Cow<'a, [u8]>,
    /// Its routing key.
    pub routing_key: Cow<'a, [u8]>,
    /// Encoded properties, for [`crate::Properties::parse`].
    pub properties: Cow<'a, [u8]>,
    /// Its body.
    pub body: Cow<'a, [u8]>,
}
