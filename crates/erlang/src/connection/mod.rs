//! A connection to a node, with its calls, messages and end.
//!
//! A thread of its own, the link, owns the socket, so that a busy or waiting program does not lose the connection.
//! Every wait has a timeout.

mod call;
mod evaluate;
mod expected;
mod handle;
mod link;
mod mailbox;
mod open;
mod options;
mod switchboard;
mod tls;
mod unchecked;
mod wire;

pub use expected::{ExpectedNode, HoldsSocket};
pub use handle::Connection;
pub use mailbox::{Mailbox, Received};
pub(crate) use open::unique;
pub use options::{ConnectOptions, Network, Peer, Port, TlsFiles, VerifyPeer};
pub(crate) use switchboard::{Command, Renewal};
