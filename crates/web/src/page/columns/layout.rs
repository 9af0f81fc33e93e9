//! The bytes of a profile in the page, and the values that they hold.
//!
//! The script element `columns` has these bytes with gzip and base64. `ui/src/columns/decode.ts` and `decode.rs` read
//! them. They have names, nodes and records, which are many; the element `data` has the rest as JSON.
//!
//! A *number* is a LEB128: seven bits a byte, the lowest first. The top bit marks that another byte follows. *Sparse*
//! numbers are pairs for some nodes: the distance from the previous node of a pair (the first: from node 0), then the
//! value.
//!
//! | bytes | contents |
//! | --- | --- |
//! | 1 number | [`VERSION`] |
//! | 3 numbers | nodes, functions, weights besides `self` (0 or 2) |
//! | 11 numbers | length in bytes of each column below |
//! | `names` | for each function the number of bytes of its name, and these in UTF-8; the most frequent one first |
//! | `classes` | a byte for each function: its place in `FrameClass::ALL` |
//! | `codes` | a byte for each function: the origin of its code, its place in [`CODES`] |
//! | `frames` | for each node in pre-order the number of its function |
//! | `climbs` | for each node the levels from the node before up to this node's parent; 0: its child |
//! | `self` | sparse: weight of the stacks that end in a node; nodes without weight are left out |
//! | `runs` | sparse: activations in a row, where they are more than one |
//! | `places` | sparse: class of a node that differs from that of its function |
//! | `before`, `after` | sparse, only in a comparison: weights that end in a node, of both sides |
//! | `records` | number of records and of their points, 1 if occurrences are counted, else 0; then the records |
//!
//! A record has the nodes since the previous record, owner, label, weight, number of occurrences if they are counted,
//! and number of points. A point has the steps of time since the previous point of the record, and the weight.

use rabbitscope_profiles::FrameKind;

/// Version of the layout. Readers refuse any other.
pub(crate) const VERSION: u64 = 1;

/// Names of the columns, in their order.
pub(crate) const COLUMNS: [&str; 11] = [
    "names", "classes", "codes", "frames", "climbs", "self", "runs", "places", "before", "after",
    "records",
];

/// Origins of code by number.
pub(crate) const CODES: [FrameKind; 9] = [
    FrameKind::Thread,
    FrameKind::Erlang,
    FrameKind::Bif,
    FrameKind::VmFragment,
    FrameKind::Native,
    FrameKind::Kernel,
    FrameKind::Waiting,
    FrameKind::Runnable,
    FrameKind::Collecting,
];

/// Deepest stack that is read.
pub(crate) const MAX_DEPTH: u32 = 65_535;

/// The values. Columns of functions have an entry for each function, columns of nodes one for each node in pre-order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Columns {
    /// Names of the functions.
    pub(crate) names: Vec<String>,
    /// Class of each function, independent of its place.
    pub(crate) classes: Vec<u8>,
    /// Origin of each function's code.
    pub(crate) codes: Vec<u8>,
    /// Function of each node.
    pub(crate) frames: Vec<u32>,
    /// Levels from the previous node up to the node's parent.
    pub(crate) climbs: Vec<u32>,
    /// Weight of the stacks that end in each node.
    pub(crate) self_weights: Vec<u64>,
    /// Nodes with more than one activation in a row, and their number.
    pub(crate) runs: Vec<(u32, u32)>,
    /// Nodes whose class depends on their place, and that class.
    pub(crate) places: Vec<(u32, u8)>,
    /// Weights of both sides of a comparison that end in each node.
    pub(crate) sides: Option<[Vec<u64>; 2]>,
    /// Records have a number of occurrences besides a weight of a different kind.
    pub(crate) counted: bool,
    /// Weights by node, owner and label, in order of the nodes.
    pub(crate) records: Vec<Record>,
}

/// Weight of a stack by owner, label and time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Record {
    /// Last node of the stack.
    pub(crate) node: u32,
    /// Number of the owner.
    pub(crate) owner: u32,
    /// Number of the label.
    pub(crate) label: u32,
    /// Weight in the unit of the profile.
    pub(crate) weight: u64,
    /// Number of occurrences; the weight if they are not counted.
    pub(crate) count: u64,
    /// Steps of time in ascending order with their weights.
    pub(crate) points: Vec<(u32, u64)>,
}
