//! Conversion of the agent's call trees and samples into profiles.

use std::{collections::HashMap, sync::Arc, time::Duration};

use rabbitscope_erlang::probes::{CallTree, NodeKey, Samples, TreeNode};
use rabbitscope_profiles::{
    Capture, Event, Frame, FrameKind, FrameTable, Identities, Identity, Labels, Mode, Profile,
    Sample, StackEntry, StackOutcome, StackQuality, Times,
};

use super::notes::{sample_notes, tree_notes};

const WAIT: (&str, FrameKind) = ("[wait]", FrameKind::Waiting);
const RUNNABLE: (&str, FrameKind) = ("[runnable]", FrameKind::Runnable);
const GC: (&str, FrameKind) = ("[gc]", FrameKind::Collecting);

/// Maximum number of frames that `process_info` returns (`backtrace_depth`, by default 8).
const SAMPLED_FRAMES: usize = 8;

/// Returns the tree as a profile in microseconds. Running time is weight of the function. Waiting, runnable and garbage
/// collection time is weight of a separate frame above the function.
pub fn profile_of_tree(tree: &CallTree, has_entry: bool) -> Profile {
    let notes = tree_notes(&tree.result, has_entry);
    profile_of_nodes(&tree.nodes, &tree.nodes, tree.result.elapsed, notes)
}

/// Returns the longest single call as a separate profile.
pub fn slowest_of_tree(tree: &CallTree) -> Option<Profile> {
    let slowest = tree.slowest.as_ref()?;
    let pid = slowest.pid.as_ref().map_or_else(String::new, |pid| format!(" in process {pid}"));
    let note = format!("The longest of the calls, {:.3} s{pid}.", slowest.took.as_secs_f64());
    Some(profile_of_nodes(&slowest.nodes, &tree.nodes, slowest.took, vec![note]))
}

fn profile_of_nodes(
    nodes: &[TreeNode],
    all: &[TreeNode],
    elapsed: Duration,
    remarks: Vec<String>,
) -> Profile {
    let mut builder =
        Builder { by_id: all.iter().map(|node| (node.id, node)).collect(), ..Builder::default() };
    for node in nodes {
        builder.add(node);
    }
    Profile {
        event: Event::CallTime,
        capture: capture("traced calls", elapsed, remarks),
        quality: StackQuality::default(),
        frames: builder.frames,
        samples: builder.samples,
        identities: Identities::default(),
        lines: Vec::new(),
    }
}

fn capture(recorder: &str, elapsed: Duration, notes: Vec<String>) -> Capture {
    Capture {
        recorder: recorder.to_owned(),
        clock: "monotonic".to_owned(),
        duration_nanos: u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX),
        notes,
        ..Capture::default()
    }
}

#[derive(Default)]
struct Builder<'a> {
    by_id: HashMap<u64, &'a TreeNode>,
    frames: FrameTable,
    samples: Vec<Sample>,
}

impl Builder<'_> {
    fn add(&mut self, node: &TreeNode) {
        let stack = self.stack(node);
        for (time, state) in [
            (node.run, None),
            (node.wait, Some(WAIT)),
            (node.runnable, Some(RUNNABLE)),
            (node.gc, Some(GC)),
        ] {
            let weight = u64::try_from((time.as_nanos() + 500) / 1000).unwrap_or(u64::MAX);
            if weight > 0 {
                let mut stack = stack.clone();
                if let Some((name, kind)) = state {
                    push(&mut self.frames, &mut stack, name.to_owned(), kind);
                }
                self.samples.push(Sample {
                    stack,
                    labels: labels(None, StackOutcome::Complete),
                    weight,
                    count: weight,
                    times: Times::default(),
                });
            }
        }
    }

    fn stack(&mut self, node: &TreeNode) -> Vec<StackEntry> {
        let mut path = vec![node];
        let mut at = node;
        while let Some(&above) = self.by_id.get(&at.parent) {
            path.push(above);
            at = above;
        }
        let mut stack = Vec::new();
        for pair in (0..path.len()).rev() {
            let above = path.get(pair + 1).map(|node| &node.key);
            if let Some((name, kind)) = frame_of(&path[pair].key, above) {
                push(&mut self.frames, &mut stack, name, kind);
            }
        }
        stack
    }
}

/// Returns the frame of a node. A process that is scheduled out in the function above gets no second frame for it.
fn frame_of(key: &NodeKey, above: Option<&NodeKey>) -> Option<(String, FrameKind)> {
    match key {
        NodeKey::Function(function) => Some((function.to_string(), FrameKind::Erlang)),
        NodeKey::Process(role, name) => Some((process_frame(role, name), FrameKind::Thread)),
        NodeKey::Off(None) => None,
        NodeKey::Off(Some(function)) => match above {
            Some(NodeKey::Function(same)) if same == function => None,
            _ => Some((function.to_string(), FrameKind::Erlang)),
        },
    }
}

fn process_frame(role: &str, name: &str) -> String {
    match (role, name) {
        ("unknown", _) => "process (ended)".to_owned(),
        (role, "") => format!("process {role}"),
        (role, name) => format!("process {role} {name}"),
    }
}

fn push(frames: &mut FrameTable, stack: &mut Vec<StackEntry>, name: String, kind: FrameKind) {
    StackEntry::push(stack, frames.intern(Frame { name, kind }), 1);
}

fn labels(process: Option<String>, outcome: StackOutcome) -> Labels {
    Labels { process: process.map(Into::into), thread: Arc::default(), mode: Mode::User, outcome }
}

/// Returns samples as a profile; the weight is their number.
pub fn profile_of_samples(samples: &Samples) -> Profile {
    let mut frames = FrameTable::default();
    let mut quality = StackQuality::default();
    let mut identities = Identities::default();
    let mut found = Vec::with_capacity(samples.stacks.len());
    for sampled in &samples.stacks {
        let is_whole = sampled.stack.len() < SAMPLED_FRAMES;
        let mut stack = Vec::new();
        push(
            &mut frames,
            &mut stack,
            process_frame(&sampled.role, &sampled.name),
            FrameKind::Thread,
        );
        for function in &sampled.stack {
            push(&mut frames, &mut stack, function.to_string(), FrameKind::Erlang);
        }
        let outcome = if is_whole { StackOutcome::Complete } else { StackOutcome::Truncated };
        *(if is_whole { &mut quality.complete } else { &mut quality.truncated }) += sampled.count;
        let labels = labels(Some(sampled.pid.to_string()), outcome);
        identities.entry(sampled.pid.to_string()).or_insert_with(|| Identity {
            role: sampled.role.clone(),
            name: sampled.name.clone(),
            ..Identity::default()
        });
        let (weight, count) = (sampled.count, sampled.count);
        found.push(Sample { stack, labels, weight, count, times: Times::default() });
    }
    Profile {
        event: Event::Cpu,
        capture: capture("sampled from inside", samples.elapsed, sample_notes(samples)),
        quality,
        frames,
        samples: found,
        identities,
        lines: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use rabbitscope_erlang::probes::FunctionName;
    use rabbitscope_profiles::write_folded;

    use super::*;

    fn function(name: &str) -> FunctionName {
        FunctionName { module: "m".to_owned(), name: name.to_owned(), arity: 0 }
    }

    fn node(id: u64, parent: u64, key: NodeKey, micros: [u64; 4]) -> TreeNode {
        let [run, wait, runnable, gc] = micros.map(Duration::from_micros);
        TreeNode { id, parent, key, calls: 1, run, wait, runnable, gc }
    }

    fn check(nodes: Vec<TreeNode>, expected: &str) {
        let tree = CallTree { nodes, ..CallTree::default() };
        let mut out = Vec::new();
        write_folded(&profile_of_tree(&tree, true), &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn states_are_frames_of_their_own() {
        let nodes = vec![
            node(1, 0, NodeKey::Process("queue".to_owned(), "q".to_owned()), [0; 4]),
            node(2, 1, NodeKey::Function(function("f")), [7, 0, 0, 2]),
            node(3, 2, NodeKey::Off(Some(function("f"))), [0, 30, 0, 0]),
            node(4, 2, NodeKey::Off(Some(function("g"))), [0, 0, 5, 0]),
        ];
        check(
            nodes,
            "process queue q;m:f/0 7\nprocess queue q;m:f/0;[gc] 2\nprocess queue q;m:f/0;[wait] 30\n\
             process queue q;m:f/0;m:g/0;[runnable] 5\n",
        );
    }

    #[test]
    fn less_than_half_a_microsecond_is_nothing() {
        let mut short = node(1, 0, NodeKey::Function(function("f")), [0; 4]);
        short.run = Duration::from_nanos(499);
        check(vec![short], "");
    }
}
