//! The labels of the page's records besides stack and process, in columns without repetition. A label has the thread,
//! the stack outcome, whether a frame has no name or none is an Erlang function, and the off-CPU state.

use std::collections::HashMap;

use rabbitscope_analysis::WaitState;
use rabbitscope_profiles::{FrameId, Profile, Sample, StackOutcome};
use serde::Serialize;

/// One entry for each label.
#[derive(Default, Serialize)]
pub(crate) struct LabelColumns {
    /// Names of threads …
    threads: Vec<String>,
    /// … and the number of the label's thread.
    thread: Vec<u32>,
    outcome: Vec<&'static str>,
    /// At least one frame has no symbol.
    unsymbolised: Vec<bool>,
    /// On a process, and yet without any Erlang function.
    #[serde(rename = "no-function")]
    no_function: Vec<bool>,
    /// Absent on the CPU, and if the state is unknown.
    state: Vec<Option<WaitState>>,
}

/// Thread, outcome, whether a frame has no name and no frame is an Erlang function, the frame of the state.
type Label<'a> = (&'a str, StackOutcome, [bool; 2], Option<FrameId>);

/// Numbers the labels.
pub(crate) struct Labeller<'a> {
    /// By frame: the frame has no symbol.
    unsymbolised: Vec<bool>,
    /// By frame: the frame is an Erlang function.
    erlang: Vec<bool>,
    /// Frames that stand for a state.
    states: HashMap<FrameId, WaitState>,
    numbers: HashMap<Label<'a>, u32>,
    threads: HashMap<&'a str, u32>,
}

impl<'a> Labeller<'a> {
    pub(crate) fn new(profile: &Profile) -> Self {
        let state =
            |name: &str| WaitState::ALL.into_iter().find(|state| state.frame_name() == name);
        let named = profile.frames.iter();
        Self {
            unsymbolised: profile.frames.iter().map(|(_, frame)| frame.is_unsymbolised()).collect(),
            erlang: profile
                .frames
                .iter()
                .map(|(_, frame)| frame.kind.is_erlang_function())
                .collect(),
            states: named.filter_map(|(id, frame)| Some((id, state(&frame.name)?))).collect(),
            numbers: HashMap::new(),
            threads: HashMap::new(),
        }
    }

    /// Returns the number of a sample's label, which is added to the columns if it is new.
    pub(crate) fn number(&mut self, sample: &'a Sample, columns: &mut LabelColumns) -> u32 {
        let thread = &*sample.labels.thread;
        let outcome = sample.labels.outcome;
        let has_unnamed =
            sample.stack.iter().any(|entry| self.unsymbolised[entry.frame.0 as usize]);
        let has_erlang = sample.stack.iter().any(|entry| self.erlang[entry.frame.0 as usize]);
        let no_function = outcome.is_on_process() && !has_erlang;
        // Below the kind of thread, which stands below the node if there are several.
        let mut below = sample.stack.iter().skip(1).take(2).map(|entry| entry.frame);
        let state = below.find(|frame| self.states.contains_key(frame));
        let threads = &mut self.threads;
        *self.numbers.entry((thread, outcome, [has_unnamed, no_function], state)).or_insert_with(
            || {
                let number = *threads.entry(thread).or_insert_with(|| {
                    columns.threads.push(thread.to_owned());
                    number_of(columns.threads.len())
                });
                columns.thread.push(number);
                columns.outcome.push(outcome.name());
                columns.unsymbolised.push(has_unnamed);
                columns.no_function.push(no_function);
                columns.state.push(state.map(|frame| self.states[&frame]));
                number_of(columns.thread.len())
            },
        )
    }
}

/// Returns the position of the last of `length` elements.
fn number_of(length: usize) -> u32 {
    u32::try_from(length - 1).expect("fewer threads than processes")
}

#[cfg(test)]
mod tests {
    use rabbitscope_profiles::{Event, read_folded};

    use super::*;

    #[test]
    fn labels_are_few() {
        let stacks = "aux;[blocked];x+0x12 1\naux;[idle];a 1\naux;[idle];b 1\naux;poll 1";
        let mut profile = read_folded(stacks.as_bytes()).unwrap();
        profile.event = Event::OffCpu;
        for (sample, thread) in profile.samples.iter_mut().zip(["1", "1", "1", "2"]) {
            sample.labels.thread = thread.into();
        }
        let (mut columns, mut labeller) = (LabelColumns::default(), Labeller::new(&profile));
        let numbers: Vec<u32> =
            profile.samples.iter().map(|sample| labeller.number(sample, &mut columns)).collect();
        assert_eq!(numbers, [0, 1, 1, 2]);
        let json = serde_json::to_value(&columns).unwrap();
        assert_eq!(json["threads"], serde_json::json!(["1", "2"]));
        assert_eq!(json["thread"], serde_json::json!([0, 0, 1]));
        assert_eq!(json["state"], serde_json::json!(["blocked", "idle", null]));
        assert_eq!(json["unsymbolised"], serde_json::json!([true, false, false]));
    }
}
