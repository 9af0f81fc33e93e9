//! The live page of a running node.
//!
//! ```text
//! outside   /proc, each second                        ─┐
//! asking    figures and names of processes, by cookie  ├─► reports ─► page ─► ticks, windows ─► LiveServer
//! recorder  CPU samples in windows of 2 s              │                            ▲
//! looks     a check of 10 s, then a pause of 20 s     ─┘              server: viewers, the node's end and return
//! ```
//!
//! Without a viewer, nothing is observed: no code is in the node, no recording runs. The blocks of the page are in the
//! crate `web`, the limit and the findings in `check` and `diagnosis`.

mod asking;
mod life;
mod looks;
mod observation;
mod outside;
mod pace;
mod page;
mod recorder;
mod report;
mod server;

pub use life::FindNode;
pub use server::serve_node;
