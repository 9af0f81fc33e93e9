//! Harm to single nodes of a broker, while others use the broker: done, proved, and undone.
//!
//! Everything happens to the node's own processes or inside the node, by what RabbitMQ and Erlang document. Nothing of the
//! machine is changed: no firewall, no interface, no file of others.

mod control;
mod expressions;
mod harm;

pub use control::NodeControl;
pub use harm::Harm;
