//! Harm to single nodes of a broker in use: done, proved, and undone.
//!
//! Only the node's own processes and the inside of the node are changed, by documented means of RabbitMQ and Erlang.
//! The machine stays as it is: no firewall rule, no interface, no foreign file.

mod control;
mod expressions;
mod harm;

pub use control::NodeControl;
pub use harm::Harm;
