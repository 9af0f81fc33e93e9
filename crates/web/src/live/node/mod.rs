//! The live page of a node: its blocks in the order of a reader's questions.
//!
//! ```text
//! head    all blocks, empty               ─┐
//! second  tiles, values of charts          ├─► ticks
//! look    limit, flow, tables of a check  ─┘
//! ```
//!
//! Everything here is a conversion. The observation itself is the crate `serve`.

mod charts;
mod clients;
mod flow;
mod head;
mod look;
mod processes;
mod queues;
mod second;
mod state;
mod tiles;
mod updates;

pub use head::NodeHead;
pub use look::NodeLook;
pub use second::NodeSecond;
pub use state::NodeState;
