//! A throwaway broker: the distribution's own RabbitMQ as a node of its own, in a temporary
//! directory, on free ports, reachable from this machine only.
//!
//! ```text
//!  rabbitscope ──pipe──► guard (sh, own session) ──► epmd
//!  lock, ports ─────────► lock, ports            └─► beam.smp ─► erl_child_setup, inet_gethost …
//!                                                └─► beam.smp of a second node …
//! ```
//!
//! The nodes of a cluster share guard, port mapper and cookie. They find one another through RabbitMQ's own peer
//! discovery, on ports from the command line (`erlang/rabbitscope_epmd.erl`).
//!
//! Every process inherits the lock of the directory, which tells a live broker from a dead one, and the sockets that
//! keep the broker's ports from other users.
//!
//! The guard ends the nodes and removes its directory when the pipe closes, whatever the cause: `drop`, an error, a
//! panic, a signal, `kill -9`. If the guard itself is killed, the kernel kills its processes. Only the broker's own
//! processes are ever signalled; `processes.rs` has the rules that recognise them.
//!
//! This is a crate of its own so that the live tests of every crate get a real broker without depending on the program.
//! Load and observation live in other crates.

mod asking;
mod before_load;
mod boot;
mod broker;
mod description;
mod directory;
mod distribution_tls;
mod error;
mod exposure;
mod faults;
mod guard;
mod install;
mod login;
mod node;
mod processes;
mod registry;
mod remains;
mod removal;

pub use broker::Broker;
pub use description::Listener;
pub use error::BrokerError;
pub use faults::{Harm, NodeControl};
pub use install::{Installation, ROOT_VARIABLE};
pub use node::Node;
pub use registry::{Registry, SweptBroker};
