//! The parts of a diagnosis that come from inside a node, read with one request that spans the whole check.
//!
//! ```text
//! CheckReader ── request `check` to agent/rabbitscope_check.erl ──► NodeParts ──► Case
//! ```

mod broker;
mod clients;
mod fields;
mod flow;
mod parts;
mod processes;
mod queues;
mod reader;
mod vm;

pub use parts::NodeParts;
pub use reader::CheckReader;
