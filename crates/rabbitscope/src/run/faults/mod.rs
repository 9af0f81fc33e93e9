//! Faults: harm to nodes of the throwaway broker while the load runs, as the scenario plans it.
//!
//! ```text
//! scenario ─► plan ─► a thread for each `[[faults]]`: wait ─► harm ─► wait ─► undo ─► record
//!                                                        └► replicas of queues, on threads of their own
//! ```
//!
//! What does not live here: how harm is done (the crate `broker`), and what it cost (the crate `analysis`).

mod conductor;
mod nodes;
mod plan;
mod replicas;
mod schedule;
mod text;

pub(super) use nodes::{NodesUnderLoad, StartedFaults};
pub(super) use text::faults_text;
