//! Metrics of nodes and of `watch` itself, as snapshots for `export`, which adds its own: [`node`] has what is of one
//! node, [`thread_cpu`] its CPU time, [`own`] what is of this program. CPU time by role and queue is added from windows
//! by `export`.

mod node;
mod own;
mod thread_cpu;

pub(super) use node::{Answer, write_node};
pub(super) use own::{RecordingCounts, write_own};
pub(super) use thread_cpu::ThreadCpu;
