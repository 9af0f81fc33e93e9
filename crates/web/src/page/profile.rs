//! A profile in the page's form: its figures, and the tables of functions and lines. The stacks are in
//! [`columns`](crate::page::columns).

use rabbitscope_analysis::{
    Recursion, StackTree, caution, function_table, line_table, quality_sentence,
};
use rabbitscope_profiles::{Capture, Event, FrameClass, Profile, StackQuality};
use serde::Serialize;

use crate::page::{
    columns::Columns,
    functions::{FunctionColumns, LineColumns},
    noise::Noise,
    owners::OwnersData,
    stacks::FrameNumbers,
};

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
    /// Names of the classes by number.
    kinds: [FrameClass; FrameClass::ALL.len()],
    functions: FunctionColumns,
    lines: LineColumns<'a>,
    noise: Noise,
    owners: OwnersData,
}

impl<'a> ProfileData<'a> {
    /// Returns the data, and the columns beside it.
    pub(crate) fn new(profile: &'a Profile) -> (Self, Columns) {
        let functions = function_table(profile);
        let (tree, leaves) = StackTree::with_leaves(profile, Recursion::ByLength);
        let numbers = FrameNumbers::new(&tree, &profile.frames);
        let (owners, records) = OwnersData::new(profile, &leaves);
        let data = Self {
            event: profile.value_name(),
            unit: profile.unit(),
            total: profile.total(),
            capture: &profile.capture,
            quality: profile.quality,
            sentence: quality_of(profile),
            caution: caution(profile),
            kinds: FrameClass::ALL,
            functions: FunctionColumns::new(&functions, &numbers),
            lines: LineColumns::new(&line_table(profile, &functions), &numbers),
            noise: Noise::between(profile, profile),
            owners,
        };
        let tree = Columns::from_tree(&tree, &profile.frames, &numbers);
        (data, Columns { counted: profile.event.is_weighted(), records, ..tree })
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
        let json = serde_json::to_value(ProfileData::new(&profile).0).unwrap();
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
    fn tables_have_the_numbers_of_the_columns() {
        let folded = "scheduler;m:f/1;m:f/1;erts_garbage_collect;g 5\n\
                      scheduler;m:f/1;h_[k] 2\naux;g 1";
        let profile = read_folded(folded.as_bytes()).unwrap();
        let (data, columns) = ProfileData::new(&profile);
        let json = serde_json::to_value(data).unwrap();
        assert_eq!(json["kinds"][6], "garbage-collection");
        assert_eq!(columns.names[0], "m:f/1");
        assert_eq!(
            (&json["functions"]["frame"][0], &json["functions"]["own"][0]),
            (&json!(0), &json!(7))
        );
        assert_eq!(json["total"], 8);
        let records: Vec<_> =
            columns.records.iter().map(|record| (record.node, record.weight)).collect();
        assert_eq!(records, [(3, 5), (5, 2), (7, 1)]);
    }
}
