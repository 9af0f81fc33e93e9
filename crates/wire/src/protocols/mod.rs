//! Frames of a broker's protocols, from the bytes of each direction of a connection.
//!
//! [`Conversation`] has both directions and informs each of the other's protocol. A [`Dissector`] reads one direction:
//! it detects the protocol, reads frames from chunks as they come, and resynchronizes after a gap. It skips bodies of
//! messages and never keeps them. It reads a frame within one chunk in place. Of a split frame it keeps only the bytes
//! that it needs, at most 4,096. Results go to a [`FrameSink`].
//!
//! No frame contains credentials. The sink receives the ranges of credentials and bodies before any of their bytes is
//! passed ([`Sensitive`]), so that a capture can be written without them. Of TLS only sizes of records are visible.
//!
//! Relations between frames are in `exchanges`, and the order of packets is in `tcp`.

mod amqp091;
mod amqp10;
mod arguments;
mod conversation;
mod details;
mod dissection;
mod dissector;
mod frame;
mod framer;
mod harmless;
mod mqtt;
mod prefix;
mod rabbitmq_stream;
mod reply;
mod search;
mod sink;
mod tls;

pub(crate) use amqp10::{
    Content as Amqp10Content, Elements as Amqp10Elements, address_and_subject,
};
pub(crate) use arguments::Arguments as ArgumentBytes;
pub use arguments::hash;
pub use conversation::Conversation;
pub use details::{
    Consume, ContentHeader, Delivery, Details, Disposition, MqttPacket, Outcome, Publish, Sections,
    Settlement, StreamChunk, StreamCommand, StreamPublish, Transfer,
};
pub use dissector::Dissector;
pub use frame::{Frame, IdentifierRun, Place, Protocol, Reply, peer_of};
pub(crate) use harmless::is_argument as is_known_argument;
pub(crate) use mqtt::{Property, PropertyValue, properties as mqtt_properties, variable};
pub(crate) use rabbitmq_stream::entries as stream_entries;
pub use sink::{FrameSink, Loss, Sensitive, SensitiveKind, Skipped};
