//! The parts of a profile: functions, samples and lines of one event.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use rabbitscope_profiles::{
    Event, Frame, FrameId, FrameKind, FrameTable, Labels, LineWeight, Sample, StackEntry,
    StackQuality,
};
use rustc_hash::FxHashMap;

use super::{samples::Symbolizer, stacks::StackId, weights::SampleKey};
use crate::beam::{CodeMap, Pids};

impl Symbolizer {
    /// Notes for the profile.
    pub(in super::super) fn notes(&self) -> Vec<String> {
        self.weights.notes()
    }

    /// The functions, distinct samples and quality of one event.
    pub(in super::super) fn of_event(
        &self,
        event: Event,
        pids: &Pids,
    ) -> (FrameTable, Vec<Sample>, StackQuality) {
        let mut used = Used::default();
        let bifs = self.bifs();
        let mut samples: Vec<Sample> = self
            .weights
            .iter()
            .filter(|(key, _)| key.event == event)
            .map(|(key, sum)| Sample {
                stack: self.entries(key.stack, &bifs, &mut used),
                labels: self.labels(key, pids),
                weight: sum.weight,
                count: sum.count,
                times: sum.times.clone(),
            })
            .collect();
        samples.sort_by(|a, b| (&a.stack, &a.labels).cmp(&(&b.stack, &b.labels)));
        (used.frames, samples, self.quality.get(&event).copied().unwrap_or_default())
    }

    /// The line weights of the functions of `frames`, in order. A BIF has none: its Erlang source is a
    /// placeholder.
    pub(in super::super) fn lines_of_event(
        &self,
        event: Event,
        code: &CodeMap,
        frames: &mut FrameTable,
    ) -> Vec<LineWeight> {
        let bifs = self.bifs();
        let mut files = HashMap::new();
        let mut lines = Vec::new();
        for (frame, line, sum) in self.lines.of_event(event) {
            let frame = self.frames.get(frame);
            if bifs.contains(frame.name.as_str()) {
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

    /// Functions that are known to be BIFs.
    fn bifs(&self) -> HashSet<&str> {
        let frames = self.frames.iter();
        frames.filter(|it| it.kind == FrameKind::Bif).map(|it| it.name.as_str()).collect()
    }

    /// A stack with its frames in the table of its profile.
    fn entries(&self, stack: StackId, bifs: &HashSet<&str>, used: &mut Used) -> Vec<StackEntry> {
        let mut entries = self.stacks.entries(stack);
        for entry in &mut entries {
            entry.frame = used.id_of(entry.frame, || self.frame(entry.frame, bifs));
        }
        entries
    }

    /// Gives a BIF the same kind when one of its few JIT instructions was interrupted.
    fn frame(&self, id: FrameId, bifs: &HashSet<&str>) -> Frame {
        let mut frame = self.frames.get(id).clone();
        if frame.kind == FrameKind::Erlang && bifs.contains(frame.name.as_str()) {
            frame.kind = FrameKind::Bif;
        }
        frame
    }

    fn labels(&self, key: &SampleKey, pids: &Pids) -> Labels {
        Labels {
            process: (key.process != 0).then(|| pids.text(key.process)),
            thread: self.threads.name(key.tid),
            mode: key.mode,
            outcome: key.outcome,
        }
    }
}

/// The frames that one profile uses.
#[derive(Default)]
struct Used {
    frames: FrameTable,
    /// Ids in the profile by ids in the recording.
    ids: FxHashMap<FrameId, FrameId>,
}

impl Used {
    fn id_of(&mut self, recorded: FrameId, frame: impl FnOnce() -> Frame) -> FrameId {
        let frames = &mut self.frames;
        *self.ids.entry(recorded).or_insert_with(|| frames.intern(frame()))
    }
}
