//! Events of a connection.

use rabbitscope_protocol::sections;

use crate::{protocol::codes::Code, publish::FILTER_ANNOTATION};

/// Something that the broker said.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The login is complete.
    Opened,
    /// The answer to a request.
    Answer {
        /// Number of the request.
        correlation: u32,
        /// Success or its opposite. An answer of `Metadata` has none, and counts as success.
        code: Code,
        /// The rest of the answer.
        content: &'a [u8],
    },
    /// The stream has taken these messages of a publisher, by their positions on the connection, from 1.
    Confirmed {
        /// The publisher.
        publisher: u8,
        /// The first message.
        first: u64,
        /// The last message.
        last: u64,
    },
    /// The stream has not taken these messages of a publisher.
    Refused {
        /// The publisher.
        publisher: u8,
        /// The first message.
        first: u64,
        /// The last message.
        last: u64,
        /// The reason.
        code: Code,
    },
    /// A message.
    Delivery(Message<'a>),
    /// Messages that are compressed together.
    Packed(Packed<'a>),
    /// All messages of a chunk have been passed on. A credit was used.
    ChunkEnd {
        /// The subscription.
        subscription: u8,
    },
    /// The broker asks a single active consumer to become active or to pause.
    /// [`Connection::answer_update`](crate::Connection::answer_update) answers.
    Update {
        /// Number of the question.
        correlation: u32,
        /// The subscription.
        subscription: u8,
        /// Whether it becomes active.
        is_active: bool,
    },
    /// The broker refused a credit, because the subscription has ended.
    CreditRefused {
        /// The subscription.
        subscription: u8,
        /// The reason.
        code: Code,
    },
    /// A stream was deleted, or its leader has moved. Its publishers and subscriptions on the connection have ended.
    StreamGone {
        /// Name of the stream.
        stream: &'a str,
        /// The reason.
        code: Code,
    },
    /// The broker has agreed to close the connection.
    Closed,
}

/// A message of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// The subscription.
    pub subscription: u8,
    /// Offset in the stream.
    pub offset: u64,
    /// The message as AMQP 1.0 has it.
    pub bytes: &'a [u8],
}

impl<'a> Message<'a> {
    /// Returns the first bytes or text of the body; empty if the message has none.
    #[inline]
    pub fn body(&self) -> &'a [u8] {
        sections::body(self.bytes).unwrap_or_default()
    }

    /// Returns the value by which the message can be filtered; `None` without one.
    pub fn filter_value(&self) -> Option<&'a [u8]> {
        sections::annotation(self.bytes, FILTER_ANNOTATION)
    }

    /// Returns the bytes or text of a property of the application; `None` if the message has none of this name.
    pub fn property(&self, name: &str) -> Option<&'a [u8]> {
        sections::property(self.bytes, name)
    }
}

/// Messages that are compressed together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packed<'a> {
    /// The subscription.
    pub subscription: u8,
    /// Offset of the first message.
    pub offset: u64,
    /// Number of messages.
    pub count: u16,
    /// Number of the codec: 1 gzip, 2 snappy, 3 lz4, 4 zstd.
    pub codec: u8,
    /// Size of the messages when they are not compressed, in bytes.
    pub size: u32,
    /// The compressed messages.
    pub bytes: &'a [u8],
}
