//! Raw samples become named stacks. Names are given when samples are fetched, while the code they
//! point into is still there.

use std::collections::HashMap;

use rabbitscope_data::profile::{
    Frame, FrameId, FrameKind, FrameTable, Labels, Mode, Sample, StackOutcome, StackQuality,
};

use super::stacks::{EMPTY, StackId, Stacks};
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
    stacks: Stacks,
    weights: HashMap<StackKey, u64>,
    names: NativeNames,
    threads: HashMap<u32, (String, ThreadKind)>,
    names_given: HashMap<(u64, Space), Named>,
    quality: StackQuality,
    label_limit_hit: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct StackKey {
    stack: StackId,
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
            stacks: Stacks::default(),
            weights: HashMap::new(),
            names: NativeNames::new(process),
            threads: HashMap::new(),
            names_given: HashMap::new(),
            quality: StackQuality::default(),
            label_limit_hit: false,
        }
    }

    /// Forgets names of JIT code; to be called when the code map has changed.
    pub(super) fn code_changed(&mut self) {
        self.names_given.retain(|&(_, space), _| matches!(space, Space::Native | Space::Kernel));
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

    /// The stack of a sample, and whether all its frames have names.
    fn stack_of(&mut self, raw: &RawSample, code: &CodeMap, process: &Process) -> (StackId, bool) {
        let kind = self.thread_kind(raw.tid, process);
        let mut stack = Growing { id: EMPTY, symbolised: true };
        let root = self.named(kind.name(), FrameKind::Thread);
        self.grow(&mut stack, root, 1);
        for (address, repeat) in raw.outer_frames() {
            let named = self.name(address, Space::JitReturn, code, process);
            self.grow(&mut stack, named, repeat);
        }
        if raw.outcome == OUTCOME_TRUNCATED {
            let gap = self.named(GAP, FrameKind::VmFragment);
            self.grow(&mut stack, gap, 1);
        }
        for (address, repeat) in raw.erlang_frames() {
            let named = self.name(address, Space::JitReturn, code, process);
            self.grow(&mut stack, named, repeat);
        }
        for (address, space) in inner_frames(raw, code) {
            let named = self.name(address, space, code, process);
            self.grow(&mut stack, named, 1);
        }
        (stack.id, stack.symbolised)
    }

    /// A frame that is not an address.
    fn named(&mut self, name: &str, kind: FrameKind) -> Named {
        let frame = self.frames.intern(Frame { name: name.into(), kind });
        Named { frame, symbolised: true }
    }

    fn grow(&mut self, stack: &mut Growing, named: Named, repeat: u32) {
        stack.symbolised &= named.symbolised;
        stack.id = self.stacks.push(stack.id, named.frame, repeat);
    }

    fn name(&mut self, address: u64, space: Space, code: &CodeMap, process: &Process) -> Named {
        if let Some(&named) = self.names_given.get(&(address, space)) {
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
        self.names_given.insert((address, space), named);
        named
    }

    /// What a thread is for; new threads are looked for when an unknown id turns up.
    fn thread_kind(&mut self, tid: u32, process: &Process) -> ThreadKind {
        if !self.threads.contains_key(&tid) {
            for thread in process.threads().unwrap_or_default() {
                let kind = ThreadKind::from_name(&thread.name).0;
                self.threads.insert(thread.tid, (thread.name, kind));
            }
            self.threads.entry(tid).or_insert_with(|| (String::new(), ThreadKind::Other));
        }
        self.threads[&tid].1
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
        let (threads, stacks) = (self.threads, self.stacks);
        let mut samples: Vec<Sample> = self
            .weights
            .into_iter()
            .map(|(key, weight)| Sample {
                stack: stacks.entries(key.stack),
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

/// A stack under construction, root first.
struct Growing {
    id: StackId,
    symbolised: bool,
}

/// What comes below the Erlang stack: the call into C, the interrupted instruction, the kernel.
fn inner_frames<'a>(
    raw: &'a RawSample,
    code: &CodeMap,
) -> impl Iterator<Item = (u64, Space)> + use<'a> {
    let in_jit = raw.leaf_in_jit == 1;
    let called_from_jit =
        !in_jit && raw.process != 0 && code.name_at(raw.boundary.wrapping_sub(1)).is_some();
    let boundary = called_from_jit.then_some((raw.boundary, Space::JitReturn));
    let leaf = (raw.leaf, if in_jit { Space::JitLeaf } else { Space::Native });
    let kernel = raw.kernel_frames().map(|address| (address, Space::Kernel));
    boundary.into_iter().chain([leaf]).chain(kernel)
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
    use rabbitscope_data::profile::FrameKind;

    use super::jit_frame;

    #[test]
    fn kinds_of_jit_code() {
        assert_eq!(jit_frame(Some("lists:map/2")).0.kind, FrameKind::Erlang);
        assert_eq!(jit_frame(Some("global::call_light_bif_shared")).0.kind, FrameKind::VmFragment);
        assert!(!jit_frame(None).1);
    }
}
