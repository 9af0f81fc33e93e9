//! The parts of a profile: functions, samples and lines of one event.

use std::{collections::HashMap, sync::Arc};

use rabbitscope_profiles::{
    Event, Frame, FrameId, FrameKind, FrameTable, Labels, LineWeight, Sample, StackEntry,
    StackQuality,
};
use rustc_hash::FxHashMap;

use super::{
    frames::Frames,
    samples::Symbolizer,
    stacks::{StackId, Stacks},
};
use crate::beam::{CodeMap, Pids};

impl Symbolizer {
    /// Notes for the profile.
    pub(in super::super) fn notes(&self) -> Vec<String> {
        self.weights.notes()
    }

    /// Takes the functions, distinct samples and quality of one event, and leaves no weights behind.
    pub(in super::super) fn take_event(
        &mut self,
        event: Event,
        pids: &Pids,
    ) -> (FrameTable, Vec<Sample>, StackQuality) {
        let Self { frames, stacks, weights, threads, quality, .. } = self;
        let mut used = Used::new(frames, stacks);
        let mut processes = ProcessTexts::default();
        let mut samples = Vec::new();
        for (key, sum) in weights.take(event) {
            samples.push(Sample {
                stack: used.entries(key.stack),
                labels: Labels {
                    process: processes.text(key.process, pids),
                    thread: threads.name(key.tid),
                    mode: key.mode,
                    outcome: key.outcome,
                },
                weight: sum.weight,
                count: sum.count,
                times: sum.times,
            });
        }
        samples.sort_unstable_by(|a, b| (&a.stack, &a.labels).cmp(&(&b.stack, &b.labels)));
        (used.frames, samples, quality.get(&event).copied().unwrap_or_default())
    }

    /// The line weights of the functions of `frames`, in order. A BIF has none: its Erlang source is a placeholder.
    pub(in super::super) fn lines_of_event(
        &self,
        event: Event,
        code: &CodeMap,
        frames: &mut FrameTable,
    ) -> Vec<LineWeight> {
        let mut files = HashMap::new();
        let mut lines = Vec::new();
        for (frame, line, sum) in self.lines.of_event(event) {
            let frame = self.frames.get(frame);
            if self.frames.is_bif(&frame.name) {
                continue;
            }
            let file: &Arc<str> =
                files.entry(line.file).or_insert_with(|| code.file(line.file).into());
            lines.push(LineWeight {
                frame: frames.intern(frame.clone()),
                file: Arc::clone(file),
                line: line.number,
                own: sum.own,
                total: sum.total,
            });
        }
        lines.sort_by(|a, b| (a.frame, &a.file, a.line).cmp(&(b.frame, &b.file, b.line)));
        lines
    }
}

/// The frames that one profile uses.
struct Used<'a> {
    recorded: &'a Frames,
    stacks: &'a Stacks,
    frames: FrameTable,
    /// Ids in the profile by ids in the recording.
    ids: FxHashMap<FrameId, FrameId>,
}

impl<'a> Used<'a> {
    fn new(recorded: &'a Frames, stacks: &'a Stacks) -> Self {
        let (frames, ids) = (FrameTable::default(), FxHashMap::default());
        Self { recorded, stacks, frames, ids }
    }

    /// A stack with its frames in the table of its profile.
    fn entries(&mut self, stack: StackId) -> Vec<StackEntry> {
        let mut entries = self.stacks.entries(stack);
        for entry in &mut entries {
            entry.frame = self.id_of(entry.frame);
        }
        entries
    }

    /// The id in the profile. A BIF has the same kind even if one of its few JIT instructions was interrupted.
    fn id_of(&mut self, recorded: FrameId) -> FrameId {
        if let Some(&id) = self.ids.get(&recorded) {
            return id;
        }
        let Frame { name, kind } = self.recorded.get(recorded);
        let is_bif = *kind == FrameKind::Erlang && self.recorded.is_bif(name);
        let id = self.frames.intern_named(name, if is_bif { FrameKind::Bif } else { *kind });
        self.ids.insert(recorded, id);
        id
    }
}

/// The texts of processes' pids. A process has many samples.
#[derive(Default)]
struct ProcessTexts(FxHashMap<u64, Arc<str>>);

impl ProcessTexts {
    /// The text of a process's pid; `None` without a process.
    fn text(&mut self, process: u64, pids: &Pids) -> Option<Arc<str>> {
        let new = || pids.text(process).into();
        let text = || Arc::clone(self.0.entry(process).or_insert_with(new));
        (process != 0).then(text)
    }
}
