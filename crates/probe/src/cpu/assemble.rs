//! Raw samples become named stacks. Names are given when samples are fetched, while the code they
//! point into is still there.

use std::collections::HashMap;

use rabbitscope_data::profile::{
    Frame, FrameId, FrameKind, FrameTable, Labels, Mode, Sample, StackEntry, StackOutcome,
    StackQuality,
};

use super::wire::{
    MODE_KERNEL, OUTCOME_COMPLETE, OUTCOME_NO_PROCESS, OUTCOME_TRUNCATED, RawSample,
};
use crate::{
    beam::{CodeMap, Layout, ThreadKind},
    native::{NativeName, NativeNames},
    node::Process,
};

/// Distinct (stack, process, thread) triples that are kept; beyond it new ones lose the process and
/// the thread, so that memory follows the number of code paths and not the number of processes.
const MAX_LABELLED: usize = 400_000;

/// Stands for the frames that are missing in the middle of a truncated stack.
const GAP: &str = "[truncated]";

/// Collects samples of one recording.
pub(super) struct Assembler {
    frames: FrameTable,
    weights: HashMap<StackKey, u64>,
    names: NativeNames,
    threads: HashMap<u32, (String, ThreadKind)>,
    named: HashMap<(u64, Space), Named>,
    quality: StackQuality,
    label_limit_hit: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct StackKey {
    stack: Box<[StackEntry]>,
    process: u64,
    tid: u32,
    mode: Mode,
    outcome: StackOutcome,
}

/// How an address is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Space {
    /// JIT code, the very instruction.
    JitLeaf,
    /// JIT code, the instruction after a call.
    JitReturn,
    /// Code of a file.
    Native,
    /// Code of the kernel.
    Kernel,
}

#[derive(Clone, Copy, Debug)]
struct Named {
    frame: FrameId,
    symbolised: bool,
}

impl Assembler {
    pub(super) fn new(process: &Process) -> Self {
        Self {
            frames: FrameTable::default(),
            weights: HashMap::new(),
            names: NativeNames::new(process),
            threads: HashMap::new(),
            named: HashMap::new(),
            quality: StackQuality::default(),
            label_limit_hit: false,
        }
    }

    /// Forgets names of JIT code; to be called when the code map has changed.
    pub(super) fn code_changed(&mut self) {
        self.named.retain(|&(_, space), _| matches!(space, Space::Native | Space::Kernel));
    }

    /// Adds a sample as it came from the kernel.
    pub(super) fn add(&mut self, raw: &RawSample, code: &CodeMap, process: &Process) {
        let (stack, symbolised) = self.stack_of(raw, code, process);
        let outcome = outcome_of(raw.outcome);
        self.count_quality(outcome, symbolised, raw.count);
        let mut key = StackKey {
            stack,
            process: raw.process,
            tid: raw.tid,
            mode: if raw.mode == MODE_KERNEL { Mode::Kernel } else { Mode::User },
            outcome,
        };
        if self.weights.len() >= MAX_LABELLED && !self.weights.contains_key(&key) {
            self.label_limit_hit = true;
            (key.process, key.tid) = (0, 0);
        }
        *self.weights.entry(key).or_default() += raw.count;
    }

    fn count_quality(&mut self, outcome: StackOutcome, symbolised: bool, count: u64) {
        let quality = &mut self.quality;
        *match outcome {
            StackOutcome::Complete => &mut quality.complete,
            StackOutcome::Truncated => &mut quality.truncated,
            StackOutcome::Broken | StackOutcome::Unknown => &mut quality.broken,
            StackOutcome::NoProcess => &mut quality.no_process,
        } += count;
        if !symbolised {
            quality.unsymbolised += count;
        }
    }

    fn stack_of(
        &mut self,
        raw: &RawSample,
        code: &CodeMap,
        process: &Process,
    ) -> (Box<[StackEntry]>, bool) {
        let mut stack = StackBuilder::default();
        let kind = self.thread(raw.tid, process).1;
        stack.push(
            self.frames.intern(Frame { name: kind.name().into(), kind: FrameKind::Thread }),
            1,
        );
        for (address, repeat) in raw.outer_frames() {
            let named = self.name(address, Space::JitReturn, code, process);
            stack.add(named, repeat);
        }
        if raw.outcome == OUTCOME_TRUNCATED {
            let gap = Frame { name: GAP.into(), kind: FrameKind::VmFragment };
            stack.push(self.frames.intern(gap), 1);
        }
        for (address, repeat) in raw.erlang_frames() {
            let named = self.name(address, Space::JitReturn, code, process);
            stack.add(named, repeat);
        }
        if raw.leaf_in_jit == 1 {
            let named = self.name(raw.leaf, Space::JitLeaf, code, process);
            stack.add(named, 1);
        } else {
            if raw.process != 0 && code.name_at(raw.boundary.wrapping_sub(1)).is_some() {
                let named = self.name(raw.boundary, Space::JitReturn, code, process);
                stack.add(named, 1);
            }
            let named = self.name(raw.leaf, Space::Native, code, process);
            stack.add(named, 1);
        }
        for address in raw.kernel_frames() {
            let named = self.name(address, Space::Kernel, code, process);
            stack.add(named, 1);
        }
        (stack.entries.into_boxed_slice(), stack.symbolised)
    }

    fn name(&mut self, address: u64, space: Space, code: &CodeMap, process: &Process) -> Named {
        if let Some(&named) = self.named.get(&(address, space)) {
            return named;
        }
        if space == Space::Native && !self.names.is_mapped(address) {
            self.names.refresh(process);
        }
        let (frame, symbolised) = match space {
            Space::JitLeaf => jit_frame(code.name_at(address)),
            // The call is the instruction before; it may be the last of its function.
            Space::JitReturn => jit_frame(code.name_at(address.wrapping_sub(1))),
            Space::Native => native_frame(self.names.user(address), FrameKind::Native),
            Space::Kernel => native_frame(self.names.kernel(address), FrameKind::Kernel),
        };
        let named = Named { frame: self.frames.intern(frame), symbolised };
        self.named.insert((address, space), named);
        named
    }

    /// Name and kind of a thread; new threads are looked for when an unknown id turns up.
    fn thread(&mut self, tid: u32, process: &Process) -> (String, ThreadKind) {
        if !self.threads.contains_key(&tid) {
            for thread in process.threads().unwrap_or_default() {
                let kind = ThreadKind::from_name(&thread.name).0;
                self.threads.insert(thread.tid, (thread.name, kind));
            }
            self.threads.entry(tid).or_insert_with(|| (String::new(), ThreadKind::Other));
        }
        self.threads[&tid].clone()
    }

    /// Everything collected: functions, distinct samples, quality, and remarks for the reader.
    pub(super) fn finish(
        self,
        layout: &Layout,
    ) -> (FrameTable, Vec<Sample>, StackQuality, Vec<String>) {
        let mut notes = Vec::new();
        if self.label_limit_hit {
            notes.push(format!(
                "more than {MAX_LABELLED} combinations of stack and process: later ones carry no \
                 process"
            ));
        }
        let threads = self.threads;
        let mut samples: Vec<Sample> = self
            .weights
            .into_iter()
            .map(|(key, weight)| Sample {
                stack: key.stack.into_vec(),
                labels: Labels {
                    process: (key.process != 0).then(|| layout.pid_text(key.process)),
                    thread: threads
                        .get(&key.tid)
                        .map_or_else(String::new, |(name, _)| name.clone()),
                    mode: key.mode,
                    outcome: key.outcome,
                },
                weight,
            })
            .collect();
        samples.sort_by(|a, b| (&a.stack, &a.labels).cmp(&(&b.stack, &b.labels)));
        (self.frames, samples, self.quality, notes)
    }
}

/// A stack under construction, root first; equal neighbours become one entry.
#[derive(Default)]
struct StackBuilder {
    entries: Vec<StackEntry>,
    unsymbolised: bool,
    symbolised: bool,
}

impl StackBuilder {
    fn push(&mut self, frame: FrameId, repeat: u32) {
        self.symbolised = !self.unsymbolised;
        match self.entries.last_mut() {
            Some(last) if last.frame == frame => last.repeat += repeat,
            _ => self.entries.push(StackEntry { frame, repeat }),
        }
    }

    fn add(&mut self, named: Named, repeat: u32) {
        self.unsymbolised |= !named.symbolised;
        self.push(named.frame, repeat);
    }
}

fn outcome_of(raw: u8) -> StackOutcome {
    match raw {
        OUTCOME_NO_PROCESS => StackOutcome::NoProcess,
        OUTCOME_COMPLETE => StackOutcome::Complete,
        OUTCOME_TRUNCATED => StackOutcome::Truncated,
        _ => StackOutcome::Broken,
    }
}

/// Code shared by all functions is named `global::…`; the rest is `module:function/arity`.
fn jit_frame(name: Option<&str>) -> (Frame, bool) {
    let Some(name) = name else {
        return (Frame { name: "[jit]".into(), kind: FrameKind::VmFragment }, false);
    };
    let is_fragment = name.starts_with("global::") || !name.contains(':');
    let kind = if is_fragment { FrameKind::VmFragment } else { FrameKind::Erlang };
    (Frame { name: name.into(), kind }, true)
}

fn native_frame(name: NativeName, kind: FrameKind) -> (Frame, bool) {
    match name {
        NativeName::Known(name) => (Frame { name, kind }, true),
        NativeName::Unknown(name) => (Frame { name, kind }, false),
    }
}

#[cfg(test)]
mod tests {
    use rabbitscope_data::profile::{FrameId, FrameKind, StackEntry};

    use super::{Named, StackBuilder, jit_frame};

    #[test]
    fn equal_neighbours_are_counted() {
        let mut stack = StackBuilder::default();
        for (frame, repeat) in [(1, 1), (2, 30), (2, 1), (3, 1)] {
            stack.add(Named { frame: FrameId(frame), symbolised: true }, repeat);
        }
        let expected = [(1, 1), (2, 31), (3, 1)]
            .map(|(frame, repeat)| StackEntry { frame: FrameId(frame), repeat });
        assert_eq!(stack.entries, expected);
        assert!(stack.symbolised);
    }

    #[test]
    fn one_nameless_frame_marks_the_stack() {
        let mut stack = StackBuilder::default();
        stack.add(Named { frame: FrameId(1), symbolised: false }, 1);
        stack.add(Named { frame: FrameId(2), symbolised: true }, 1);
        assert!(!stack.symbolised);
    }

    #[test]
    fn kinds_of_jit_code() {
        assert_eq!(jit_frame(Some("lists:map/2")).0.kind, FrameKind::Erlang);
        assert_eq!(jit_frame(Some("global::call_light_bif_shared")).0.kind, FrameKind::VmFragment);
        assert!(!jit_frame(None).1);
    }
}
