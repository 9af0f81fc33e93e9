//! AMQP 0-9-1, made for speed: a codec and a connection that do no input or output themselves.
//!
//! The caller owns the socket and the clock. It reads what there is, hands the bytes over as
//! [`Frames`], asks the [`Connection`] for [`Event`]s until there are no more, lets it encode what
//! is to be sent into one output buffer, and writes that once. The same core drives thousands of
//! non-blocking sockets (crate `load`) and one blocking socket ([`blocking::Client`], for topology
//! and tests).
//!
//! What deliberately is not here: threads, event loops, retries, TLS (a socket is whatever the caller
//! reads and writes), anything about load.
//!
//! The protocol's numbers and layouts are from the AMQP 0-9-1 specification and from RabbitMQ's
//! extensions to it (`basic.nack`, `confirm.select`, `connection.blocked`, `exchange.bind`).

pub mod blocking;
mod confirm;
mod connection;
mod error;
mod event;
mod frame;
mod method;
mod output;
mod parts;
mod properties;
mod publish;
mod reply;
mod table;
mod uri;
mod wire;

pub use confirm::{ConfirmRing, UnknownConfirm};
pub use connection::{Connection, Limits};
pub use error::{ConnectionError, Malformed, Refusal};
pub use event::{Delivery, Event, Returned};
pub use frame::{Frame, FrameKind, Frames};
pub use method::{Reply, Request};
pub use output::OutputBuffer;
pub use parts::{Content, Route};
pub use properties::Properties;
pub use publish::{PublishTarget, PublishTemplate};
pub use reply::{Addressed, ReplyFields};
pub use table::{Table, Value};
pub use uri::{Mechanism, Uri, UriError};
