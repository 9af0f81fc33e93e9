//! A profile in the page's form: a table of names, the stack tree and the table of functions, all in columns.

use std::collections::HashMap;

use rabbitscope_analysis::{
    FunctionRow, LineRow, NodeId, Recursion, StackTree, caution, function_table, line_table,
    quality_sentence,
};
use rabbitscope_profiles::{Capture, Event, FrameClass, FrameTable, Profile, StackQuality};
use serde::Serialize;

use crate::{page::noise::Noise, page::owners::OwnersData};

#[derive(Serialize)]
pub(crate) struct ProfileData<'a> {
    /// The name of the event, or of the value of an import.
    event: &'a str,
    /// Unit of a weight, as a plural noun.
    unit: &'a str,
    /// Sum of all weights.
    total: u64,
    capture: &'a Capture,
    quality: StackQuality,
    sentence: String,
    /// The reason why shares say little, or why there are none.
    caution: Option<String>,
    frames: FrameColumns<'a>,
    stacks: StackColumns,
    functions: FunctionColumns,
    lines: LineColumns<'a>,
    noise: Noise,
    owners: OwnersData,
}

impl<'a> ProfileData<'a> {
    pub(crate) fn new(profile: &'a Profile) -> Self {
        let functions = function_table(profile);
        let (tree, leaves) = StackTree::with_leaves(profile, Recursion::ByLength);
        Self {
            event: profile.value_name(),
            unit: profile.unit(),
            total: profile.total(),
            capture: &profile.capture,
            quality: profile.quality,
            sentence: quality_of(profile),
            caution: caution(profile),
            frames: FrameColumns::new(&profile.frames),
            stacks: StackColumns::new(&tree, &profile.frames),
            functions: FunctionColumns::new(&functions),
            lines: LineColumns::new(&line_table(profile, &functions)),
            noise: Noise::between(profile, profile),
            owners: OwnersData::new(profile, &leaves),
        }
    }
}

/// Describes the reliability of the stacks. Those of traced calls are rebuilt, not recorded.
pub(crate) fn quality_of(profile: &Profile) -> String {
    match profile.event {
        Event::CallTime => {
            "rebuilt from every call and return while the process was traced".to_owned()
        }
        event if profile.samples.is_empty() && profile.quality.lost == 0 => {
            format!("no {} were recorded", event.occurrences())
        }
        _ => quality_sentence(&profile.quality),
    }
}

/// Returns the page's number of a class.
fn number_of(class: FrameClass) -> usize {
    FrameClass::ALL.iter().position(|listed| *listed == class).expect("all classes are listed")
}

/// Names and kinds of frames. The page's kind is a [`FrameClass`].
#[derive(Serialize)]
pub(crate) struct FrameColumns<'a> {
    name: Vec<&'a str>,
    /// Index into `kinds`.
    kind: Vec<usize>,
    kinds: [FrameClass; FrameClass::ALL.len()],
}

impl<'a> FrameColumns<'a> {
    pub(crate) fn new(frames: &'a FrameTable) -> Self {
        Self {
            name: frames.iter().map(|(_, frame)| frame.name.as_str()).collect(),
            kind: frames.iter().map(|(_, frame)| number_of(FrameClass::of(frame))).collect(),
            kinds: FrameClass::ALL,
        }
    }
}

/// The tree in pre-order. Runs of different length are different nodes, so that the page can show recursion folded or
/// open.
#[derive(Default, Serialize)]
pub(crate) struct StackColumns {
    frame: Vec<u32>,
    /// Number of levels to climb from the previous node to this node's parent. A chain is all zeros.
    climb: Vec<u32>,
    /// Weight of the stacks that end here.
    #[serde(rename = "self")]
    self_weight: Vec<u64>,
    /// Nodes whose run is longer than one …
    #[serde(rename = "run-node")]
    run_node: Vec<u32>,
    /// … and its length.
    #[serde(rename = "run-length")]
    run_length: Vec<u32>,
    /// Nodes whose kind depends on their place instead of their function …
    #[serde(rename = "kind-node")]
    kind_node: Vec<u32>,
    /// … and that kind.
    #[serde(rename = "kind-number")]
    kind_number: Vec<usize>,
}

impl StackColumns {
    pub(crate) fn new(tree: &StackTree, frames: &FrameTable) -> Self {
        let mut columns = Self::default();
        let mut depth = 0;
        let classes = tree.classes(frames);
        for ((id, node), class) in (0..).map(NodeId).zip(&tree.nodes).zip(classes) {
            columns.frame.push(node.frame.0);
            columns.climb.push(depth - node.depth);
            columns.self_weight.push(node.self_weight);
            if node.repeat > 1 {
                columns.run_node.push(id.0);
                columns.run_length.push(node.repeat);
            }
            if class != FrameClass::of(frames.get(node.frame)) {
                columns.kind_node.push(id.0);
                columns.kind_number.push(number_of(class));
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
    #[serde(rename = "self")]
    self_weight: Vec<u64>,
    total: Vec<u64>,
}

impl FunctionColumns {
    fn new(rows: &[FunctionRow]) -> Self {
        Self {
            frame: rows.iter().map(|row| row.frame.0).collect(),
            own: rows.iter().map(|row| row.own).collect(),
            self_weight: rows.iter().map(|row| row.self_weight).collect(),
            total: rows.iter().map(|row| row.total).collect(),
        }
    }
}

/// The rows of the table of lines, in the order of [`line_table`].
#[derive(Default, Serialize)]
struct LineColumns<'a> {
    files: Vec<&'a str>,
    frame: Vec<u32>,
    /// Index into `files`; also 0 if the line is 0.
    file: Vec<usize>,
    /// Line number; 0 for no line.
    line: Vec<u32>,
    own: Vec<u64>,
    total: Vec<u64>,
}

impl<'a> LineColumns<'a> {
    fn new(rows: &[LineRow<'a>]) -> Self {
        let mut columns = Self::default();
        let mut known: HashMap<&str, usize> = HashMap::new();
        for row in rows {
            let file = row.place.map_or(0, |(file, _)| {
                *known.entry(file).or_insert_with(|| {
                    columns.files.push(file);
                    columns.files.len() - 1
                })
            });
            columns.frame.push(row.frame.0);
            columns.file.push(file);
            columns.line.push(row.place.map_or(0, |(_, line)| line));
            columns.own.push(row.own);
            columns.total.push(row.total);
        }
        columns
    }
}

#[cfg(test)]
mod tests {
    use rabbitscope_profiles::{LineWeight, read_folded};
    use serde_json::json;

    use super::*;

    #[test]
    fn lines_become_columns() {
        let mut profile = read_folded("s;m:f/1 8".as_bytes()).unwrap();
        let frame = profile.frames.iter().last().unwrap().0;
        let file = "src/m.erl".into();
        profile.lines = vec![LineWeight { frame, file, line: 12, own: 5, total: 6 }];
        let json = serde_json::to_value(ProfileData::new(&profile)).unwrap();
        let expected = json!({
            "files": ["src/m.erl"],
            "frame": [1, 1],
            "file": [0, 0],
            "line": [12, 0],
            "own": [5, 3],
            "total": [6, 2],
        });
        assert_eq!(json["lines"], expected);
    }

    #[test]
    fn a_profile_becomes_columns() {
        let folded = "scheduler;m:f/1;m:f/1;erts_garbage_collect;g 5\n\
                      scheduler;m:f/1;h_[k] 2\naux;g 1";
        let profile = read_folded(folded.as_bytes()).unwrap();
        let json = serde_json::to_value(ProfileData::new(&profile)).unwrap();
        let expected = json!({
            "frame": [0, 1, 2, 3, 1, 4, 5, 3],
            "climb": [0, 0, 0, 0, 3, 0, 3, 0],
            "self": [0, 0, 0, 5, 0, 2, 0, 1],
            "run-node": [1],
            "run-length": [2],
            // Only the `g` that the collector calls.
            "kind-node": [3],
            "kind-number": [6],
        });
        assert_eq!(json["stacks"], expected);
        assert_eq!(
            json["frames"]["name"],
            json!(["scheduler", "m:f/1", "erts_garbage_collect", "g", "h", "aux"])
        );
        assert_eq!(json["frames"]["kind"], json!([0, 1, 6, 4, 5, 0]));
        assert_eq!(json["frames"]["kinds"][6], "garbage-collection");
        assert_eq!(json["functions"]["own"][0], 7);
        assert_eq!(json["total"], 8);
    }
}
