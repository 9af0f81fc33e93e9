//! Faults: harm to nodes of the throwaway broker while the load runs, as the scenario plans it.
//!
//! ```text
//! scenario ─► plan ─► a thread for each `[[faults]]`: wait ─► harm ─► wait ─► undo ─► record
//!                                                        └► replicas of queues, on threads of their own
//! ```
//!
//! The crate `broker` causes the harm, and the crate `analysis` computes its cost.

mod conductor;
mod nodes;
mod plan;
mod replicas;
mod schedule;
mod text;

pub(super) use nodes::{NodesUnderLoad, StartedFaults};
pub(super) use text::faults_text;
