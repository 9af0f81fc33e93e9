//! The symbolizer: takes the samples of one recording and adds up equal ones.

use rabbitscope_profiles::{Event, Mode, StackOutcome, StackQuality};
use rustc_hash::FxHashMap;

use super::{
    callees::Callees,
    frames::{Frames, NodeCode},
    lines::{FunctionLines, LineWeights},
    stack_builder::{NamedStack, StackBuilder},
    stacks::Stacks,
    steps::Steps,
    threads::ThreadNames,
    weights::{SampleKey, StackWeights},
};
use crate::{
    beam::{Emulator, NativeFunction, SCHEDULE_FUNCTION, emulator_text},
    kernel_interface::{ErlangOutcome, RawSample},
    native::{UnnamedCode, has_names},
    recorder::sampler::FetchedSample,
};

/// Results to keep besides stacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Detail {
    /// Weights by line of source.
    Lines,
    /// None.
    Stacks,
}

/// Limit of names kept between windows. Beyond it all are dropped at the end of a window: addresses without names,
/// and repeatedly loaded code, would grow without end.
const MAX_KEPT_NAMES: usize = 100_000;

/// Limit of stack entries whose memory is kept between windows. Chosen: more would be kept for rare windows.
const MAX_KEPT_STACKS: usize = 20_000;

/// Collects the samples of one recording.
pub(in super::super) struct Symbolizer {
    pub(super) frames: Frames,
    pub(super) stacks: Stacks,
    pub(super) weights: StackWeights,
    pub(super) lines: LineWeights,
    pub(super) threads: ThreadNames,
    pub(super) quality: FxHashMap<Event, StackQuality>,
    steps: Steps,
    callees: Callees,
    /// Functions and lines of the current sample, kept to reuse their memory.
    function_lines: FunctionLines,
    /// True if weights by line of source are kept.
    has_lines: bool,
    /// True if C frames were cut since the last [`Symbolizer::take_native_cut`].
    has_native_cut: bool,
}

impl Symbolizer {
    pub(in super::super) fn new(node: NodeCode<'_>, emulator: &Emulator, detail: Detail) -> Self {
        let mut callees = Callees::new(node.process, emulator);
        let vm_functions = functions_of_vm(&mut callees, node);
        Self {
            frames: Frames::new(node.process, vm_functions),
            stacks: Stacks::default(),
            weights: StackWeights::default(),
            lines: LineWeights::default(),
            threads: ThreadNames::default(),
            quality: FxHashMap::default(),
            steps: Steps::default(),
            callees,
            function_lines: FunctionLines::new(),
            has_lines: detail == Detail::Lines,
            has_native_cut: false,
        }
    }

    /// The native functions that only a debug file would name.
    pub(in super::super) fn into_unnamed(self) -> UnnamedCode {
        self.frames.into_unnamed()
    }

    /// Starts a fetch of samples until now.
    pub(in super::super) fn begin_fetch(&mut self) {
        self.frames.begin_fetch();
    }

    /// Drops names of JIT code. Call it after a change of the code map.
    pub(in super::super) fn code_changed(&mut self) {
        self.frames.code_changed();
        self.callees.code_changed();
        self.steps.clear();
    }

    /// Drops the samples so far, but keeps the names.
    pub(in super::super) fn begin_window(&mut self) {
        if self.stacks.len() > MAX_KEPT_STACKS {
            (self.stacks, self.weights) = (Stacks::default(), StackWeights::default());
            self.steps = Steps::default();
        }
        self.stacks.clear();
        self.weights.clear();
        self.steps.clear();
        self.lines = LineWeights::default();
        self.quality.clear();
        if self.frames.len() > MAX_KEPT_NAMES {
            self.frames.forget_names();
            self.callees.forget_frames();
        }
    }

    /// Adds a sample.
    pub(in super::super) fn add(&mut self, sample: &FetchedSample<'_>, node: NodeCode<'_>) {
        let &FetchedSample { event, raw, first_step } = sample;
        let thread = self.threads.kind(raw.head.tid, node.process);
        self.function_lines.clear();
        let builder = StackBuilder {
            frames: &mut self.frames,
            stacks: &mut self.stacks,
            steps: &mut self.steps,
            callees: &mut self.callees,
            function_lines: &mut self.function_lines,
            node,
            raw,
            stack: NamedStack::empty(),
        };
        let stack = builder.build(thread);
        let outcome = outcome_of(raw);
        self.count_quality(event, outcome, stack, raw);
        if self.has_lines {
            self.lines.add(event, &self.function_lines, raw.head.weight);
        }
        let key = SampleKey {
            event,
            stack: stack.id,
            process: raw.head.process,
            tid: raw.head.tid,
            mode: if raw.is_kernel() { Mode::Kernel } else { Mode::User },
            outcome,
        };
        self.weights.add(key, raw, first_step);
    }

    /// Returns whether C frames were cut since the last call: new code may have been mapped.
    pub(in super::super) fn take_native_cut(&mut self) -> bool {
        std::mem::take(&mut self.has_native_cut)
    }

    fn count_quality(
        &mut self,
        event: Event,
        outcome: StackOutcome,
        stack: NamedStack,
        raw: &RawSample,
    ) {
        let count = raw.head.count;
        let quality = self.quality.entry(event).or_default();
        *match outcome {
            StackOutcome::Complete => &mut quality.complete,
            StackOutcome::Truncated => &mut quality.truncated,
            StackOutcome::Broken | StackOutcome::Unknown => &mut quality.broken,
            StackOutcome::NoProcess => &mut quality.no_process,
        } += count;
        if !stack.is_symbolized {
            quality.unsymbolised += count;
        }
        if outcome != StackOutcome::NoProcess && !stack.has_function {
            quality.no_function += count;
        }
        if raw.is_native_cut() {
            quality.native_cut += count;
            self.has_native_cut = true;
        }
    }
}

/// The C functions that only the VM names. Asking it means reading the head of every Erlang function. So a VM that
/// exports its functions, or whose build is known, is not asked.
fn functions_of_vm(callees: &mut Callees, node: NodeCode<'_>) -> Vec<NativeFunction> {
    let exports_them = node.process.image.symbols.contains_key(SCHEDULE_FUNCTION);
    if exports_them || has_names(node.process) {
        return Vec::new();
    }
    let text = emulator_text(node.process);
    let functions = text.map(|(start, text)| callees.native_functions(node, (start, &text)));
    functions.unwrap_or_default()
}

/// The outcome of a stack. It is complete if the walk reached the process's root and no C frame is missing.
fn outcome_of(raw: &RawSample) -> StackOutcome {
    match raw.erlang_outcome() {
        Some(ErlangOutcome::NoProcess) => StackOutcome::NoProcess,
        _ if raw.is_native_cut() => StackOutcome::Broken,
        Some(ErlangOutcome::Complete) => StackOutcome::Complete,
        Some(ErlangOutcome::Truncated) => StackOutcome::Truncated,
        Some(ErlangOutcome::NoRoot | ErlangOutcome::Unreadable) | None => StackOutcome::Broken,
    }
}
