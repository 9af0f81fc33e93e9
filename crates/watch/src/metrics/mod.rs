//! Metrics of nodes and of `watch` itself, as snapshots for `export`, which adds its own. [`node`] has the metrics of
//! one node, [`thread_cpu`] its CPU time, [`judgement`] its limit, and [`own`] the metrics of this program. `export` derives CPU time by role
//! and queue from windows.

mod judgement;
mod node;
mod own;
mod thread_cpu;

pub(super) use judgement::write_judgement;
pub(super) use node::{Answer, write_node};
pub(super) use own::{RecordingCounts, write_own};
pub(super) use thread_cpu::ThreadCpu;
