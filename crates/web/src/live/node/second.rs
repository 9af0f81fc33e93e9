//! The figures of a node in one second.

use rabbitscope_diagnosis::{MessageRates, Use};
use rabbitscope_runs::record::NodeFigures;

/// Figures of a node in one second. Absent figures could not be read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeSecond {
    /// Time in nanoseconds since the page began.
    pub at_nanos: u64,
    /// CPU time of the node's process, in cores.
    pub cpu_cores: Option<f64>,
    /// Cores that the node may use.
    pub allowed_cores: Option<f64>,
    /// Resident memory of the node's process.
    pub resident_bytes: Option<u64>,
    /// Descriptors of the node's process, with their limit.
    pub descriptors: Option<Use>,
    /// Memory above which the node raises its alarm.
    pub memory_limit_bytes: Option<u64>,
    /// Messages per second.
    pub rates: MessageRates,
    /// Figures from inside the node.
    pub figures: NodeFigures,
}
