//! The data of a live page: its shell, its head and ticks, and the profile that it asks for.
//!
//! ```text
//! page (once) ─► head: blocks, empty at first ─► tick, tick, tick … ─► the report
//!                                                  └► a new profile window ─► profile
//! ```
//!
//! Blocks are those of documents, so a live page and a file show the same. Elsewhere: sending (`crates/serve`),
//! measuring, and the times of ticks.

mod charts;
mod head;
mod latest;
mod node;
mod nodes;
mod page;
mod profile;
mod rows;
mod run;
mod shell;
#[cfg(test)]
mod tests;
mod tick;

pub use head::LiveHead;
pub use node::{NodeHead, NodeLook, NodeSecond, NodeState};
pub use nodes::{LiveNodes, WatchedNode};
pub use page::{LIVE_POLICY, write_live_page};
pub use profile::{ProfileSpan, live_profile};
pub use run::LiveRun;
pub use shell::LivePage;
pub use tick::Tick;
