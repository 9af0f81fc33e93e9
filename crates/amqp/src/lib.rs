//! AMQP 0-9-1, made for speed: a codec and a connection without input and output of their own.
//!
//! The caller owns the socket and the clock. It reads available bytes, passes them on and takes
//! [`Event`]s from the [`Connection`] until there are no more. The connection encodes everything to send into one
//! output buffer, which the caller writes at once. The same core drives thousands of non-blocking sockets (crate
//! `load`) and one blocking socket ([`blocking::Client`], for topology and tests).
//!
//! Deliberately absent: threads, event loops, retries, TLS (the caller reads and writes the socket), and load.
//!
//! [`protocol`] has the numbers and layouts of AMQP 0-9-1 and of RabbitMQ's extensions (`basic.nack`,
//! `confirm.select`, `connection.blocked`, `exchange.bind`), also for other readers of the protocol.

pub mod blocking;
mod connection;
mod error;
mod event;
mod frame;
mod method;
mod parts;
mod properties;
pub mod protocol;
mod publish;
mod refusal;
mod reply;
mod table;
mod uri;
mod wire;

pub use connection::{Connection, Limits};
pub use error::{ConnectionError, Malformed, Refusal};
pub use event::{Delivery, Event, Returned};
pub use frame::{Frame, FrameKind};
pub use method::{Reply, Request};
pub use parts::{Content, Route};
pub use properties::Properties;
pub use publish::{PublishTarget, PublishTemplate};
pub use reply::{Addressed, ReplyFields};
pub use table::{Table, Value};
pub use uri::{Mechanism, Uri, UriError};

pub use refusal::BrokerRefusal;
