//! Figures of the whole node: messages since its start, totals of queues, memory, alarms.
//!
//! ```text
//! FiguresReader ── call of rabbitscope_figures on the node ──► NodeFigures (LongestQueues says which queues are named)
//! ```

mod longest_queues;
mod node_figures;
mod reader;

pub(crate) use node_figures::memory;

pub use longest_queues::MAX_NAMED_QUEUES;
pub use node_figures::{MessageCounters, NodeFigures, QueueDepth, QueueTotals};
pub use reader::FiguresReader;
