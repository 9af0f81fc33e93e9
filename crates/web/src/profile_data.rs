//! A profile as the page needs it: a table of names, the stack tree and the table of functions, all
//! in columns.

use rabbitscope_analysis::{
    FunctionRow, NodeId, Recursion, StackTree, function_table, quality_sentence,
};
use rabbitscope_data::profile::{Capture, Event, FrameKind, FrameTable, Profile, StackQuality};
use serde::Serialize;

use crate::owners_data::OwnersData;

#[derive(Serialize)]
pub(crate) struct ProfileData<'a> {
    event: Event,
    /// What a weight counts, as a plural noun.
    unit: &'static str,
    /// Sum of all weights.
    total: u64,
    capture: &'a Capture,
    quality: StackQuality,
    sentence: String,
    frames: FrameColumns<'a>,
    stacks: StackColumns,
    functions: FunctionColumns,
    owners: OwnersData,
}

impl<'a> ProfileData<'a> {
    pub(crate) fn new(profile: &'a Profile) -> Self {
        let (tree, leaves) = StackTree::with_leaves(profile, Recursion::ByLength);
        Self {
            event: profile.event,
            unit: unit_of(profile.event),
            total: profile.total(),
            capture: &profile.capture,
            quality: profile.quality,
            sentence: quality_of(profile),
            frames: FrameColumns::new(&profile.frames),
            stacks: StackColumns::new(&tree),
            functions: FunctionColumns::new(&function_table(profile)),
            owners: OwnersData::new(profile, &leaves),
        }
    }
}

/// How far the stacks can be trusted. Those of traced calls are rebuilt, not recorded.
pub(crate) fn quality_of(profile: &Profile) -> String {
    match profile.event {
        Event::CallTime => {
            "rebuilt from every call and return while the process was traced".to_owned()
        }
        _ => quality_sentence(&profile.quality),
    }
}

/// What the weights of an event count, as a plural noun.
pub(crate) fn unit_of(event: Event) -> &'static str {
    event.unit()
}

/// Kinds of frames in the order in which the page numbers them.
const KINDS: [FrameKind; 8] = [
    FrameKind::Thread,
    FrameKind::Erlang,
    FrameKind::VmFragment,
    FrameKind::Native,
    FrameKind::Kernel,
    FrameKind::Waiting,
    FrameKind::Runnable,
    FrameKind::Collecting,
];

#[derive(Serialize)]
pub(crate) struct FrameColumns<'a> {
    name: Vec<&'a str>,
    /// Index into `kinds`.
    kind: Vec<usize>,
    kinds: [FrameKind; 8],
}

impl<'a> FrameColumns<'a> {
    pub(crate) fn new(frames: &'a FrameTable) -> Self {
        let number = |kind| KINDS.iter().position(|it| *it == kind).expect("all kinds are listed");
        Self {
            name: frames.iter().map(|(_, frame)| frame.name.as_str()).collect(),
            kind: frames.iter().map(|(_, frame)| number(frame.kind)).collect(),
            kinds: KINDS,
        }
    }
}

/// The tree in pre-order. Runs of different length are different nodes, so that the page can show
/// recursion folded or open.
#[derive(Default, Serialize)]
pub(crate) struct StackColumns {
    frame: Vec<u32>,
    /// How many levels to climb from the node before, until a node is found whose child this is. A
    /// chain is all zeros.
    climb: Vec<u32>,
    /// Weight of the stacks that end here.
    leaf: Vec<u64>,
    /// Nodes whose run is longer than one …
    #[serde(rename = "run-node")]
    run_node: Vec<u32>,
    /// … and its length.
    #[serde(rename = "run-length")]
    run_length: Vec<u32>,
}

impl StackColumns {
    pub(crate) fn new(tree: &StackTree) -> Self {
        let mut columns = Self::default();
        let mut depth = 0;
        for (id, node) in (0..).map(NodeId).zip(&tree.nodes) {
            columns.frame.push(node.frame.0);
            columns.climb.push(depth - node.depth);
            columns.leaf.push(node.leaf);
            if node.repeat > 1 {
                columns.run_node.push(id.0);
                columns.run_length.push(node.repeat);
            }
            depth = node.depth + 1;
        }
        columns
    }
}

/// The rows of the table of functions, in the order of [`function_table`].
#[derive(Default, Serialize)]
struct FunctionColumns {
    frame: Vec<u32>,
    own: Vec<u64>,
    leaf: Vec<u64>,
    total: Vec<u64>,
}

impl FunctionColumns {
    fn new(rows: &[FunctionRow]) -> Self {
        Self {
            frame: rows.iter().map(|row| row.frame.0).collect(),
            own: rows.iter().map(|row| row.own).collect(),
            leaf: rows.iter().map(|row| row.leaf).collect(),
            total: rows.iter().map(|row| row.total).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use rabbitscope_data::profile::read_folded;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_profile_becomes_columns() {
        let folded = "scheduler;m:f/1;m:f/1;g 5\nscheduler;m:f/1;h_[k] 2\naux 1";
        let profile = read_folded(folded.as_bytes()).unwrap();
        let json = serde_json::to_value(ProfileData::new(&profile)).unwrap();
        let expected = json!({
            "frame": [0, 1, 2, 1, 3, 4],
            "climb": [0, 0, 0, 2, 0, 3],
            "leaf": [0, 0, 5, 0, 2, 1],
            "run-node": [1],
            "run-length": [2],
        });
        assert_eq!(json["stacks"], expected);
        assert_eq!(json["frames"]["name"], json!(["scheduler", "m:f/1", "g", "h", "aux"]));
        assert_eq!(json["frames"]["kind"], json!([0, 1, 3, 4, 0]));
        assert_eq!(json["functions"]["own"][0], 7);
        assert_eq!(json["total"], 8);
    }
}
