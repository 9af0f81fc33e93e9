//! Frames of a broker's protocols, found in the bytes of each direction of a connection.
//!
//! [`Conversation`] has both directions and tells each the protocol of the other. A [`Dissector`] has one: it finds out
//! the protocol, reads frames from chunks as they come, and finds its way again after a gap. Bodies of messages are
//! skipped and never kept; a frame that lies in one chunk is read where it lies, of one that is split only what is read of it
//! is kept, at most 4,096 bytes. What is found goes to a [`FrameSink`].
//!
//! Credentials are read over: no frame has them. Where they and bodies of messages stand is told to the sink before any byte
//! of them is passed ([`Sensitive`]), so that a capture can be written without them. Of TLS only sizes of records can be
//! seen.
//!
//! What deliberately does not live here: what belongs together (`exchanges`), and the order of packets (`tcp`).

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

pub use conversation::Conversation;
pub use details::{
    Consume, ContentHeader, Delivery, Details, Disposition, Outcome, Publish, Settlement,
    StreamChunk, StreamCommand, StreamPublish, Transfer,
};
pub use dissector::Dissector;
pub use frame::{Frame, IdentifierRun, Place, Protocol, Reply, peer_of};
pub use sink::{FrameSink, Loss, Sensitive, SensitiveKind, Skipped};
