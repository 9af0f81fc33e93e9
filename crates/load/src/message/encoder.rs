//! Encoding of a publisher's messages for any protocol.

use std::fmt::Debug;

use rabbitscope_protocol::{Encoded, Wire};
use rabbitscope_timing::RunInstant;

/// A connection that encodes messages. A *lane* is where its publishers take turns: a channel of AMQP 0-9-1, a
/// publisher of a stream.
pub(crate) trait Encoder: Wire {
    /// A message that differs from the next one only in its head.
    type Template: Encoded + Debug;
    /// The target of a message.
    type Route: Debug;
    /// Body and properties of a message.
    type Content: Encoded + Debug;
    /// Items that are packed into each message.
    type Packed: Packed + Debug;

    /// Appends `count` messages. Returns the head of each for the caller to fill: zeros but for the bytes
    /// that the caller has changed in earlier messages.
    fn publish(
        &mut self,
        template: &Self::Template,
        count: usize,
    ) -> impl Iterator<Item = &mut [u8]>;

    /// Appends a message with this head.
    fn publish_parts(
        &mut self,
        lane: u16,
        route: &Self::Route,
        content: &Self::Content,
        head: &[u8],
    );

    /// Appends the next packed message at this time. Returns the bytes of its items.
    fn publish_packed(
        &mut self,
        lane: u16,
        packed: &mut Self::Packed,
        now: RunInstant,
        head: &[u8],
    ) -> u64;
}

/// Items that are packed into each message.
pub(crate) trait Packed {
    /// Approximate number of bytes of a message on the wire.
    fn wire_size(&self) -> usize;

    /// Number of items in each message.
    fn items(&self) -> u64;
}
