//! A hidden node that speaks the Erlang distribution protocol, and modules that it loads into the observed node for an
//! observation.
//!
//! ```text
//! Connection ── mailboxes ──► link (a thread) ──► socket, plain or TLS ──► node
//!     │
//!     └─ Loaded: a module on the node, and its keeper that removes it again
//! ```
//!
//! This crate has terms, the protocol, calls, and the loading and removal of modules. The meaning of RabbitMQ's tables,
//! commands and figures are elsewhere.

mod agent;
mod connection;
mod cookie;
mod distribution;
mod epmd;
mod error;
mod name;
pub mod probes;
pub mod term;

pub use agent::{Compiled, Ended, Loaded, ModuleSource, Reply, Request};
pub use connection::{
    ConnectOptions, Connection, ExpectedNode, HoldsSocket, Mailbox, Network, Peer, Port, Received,
    TlsFiles, VerifyPeer,
};
pub use cookie::{Cookie, CookieSource};
pub use distribution::{FrameError, FrameReader, Incoming};
pub use error::{ErlangError, ErrorKind};
pub use name::NodeName;
pub use term::Term;
