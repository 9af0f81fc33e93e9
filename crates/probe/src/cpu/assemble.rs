//! Raw samples become named stacks. Names are given when samples are fetched, while the code they
//! point into is still there.

mod results;

use std::collections::HashMap;

use rabbitscope_profiles::{
    Event, Frame, FrameId, FrameKind, FrameTable, Mode, StackOutcome, StackQuality, ThreadKind,
    is_lock_wait,
};
use rustc_hash::FxHashMap;

use super::callee::Callees;
use super::lines::{Lines, Places};
use super::naming::{jit_frame, native_frame, outcome_of};
use super::stacks::{EMPTY, StackId, Stacks};
use super::sums::{StackKey, Sums};
use super::wire::{
    MODE_KERNEL, NATIVE_CUT, OUTCOME_TRUNCATED, RawSample, WAIT_BLOCKED, WAIT_RUNNABLE,
};
use crate::{
    beam::{CodeMap, Emulator, SourceLine},
    native::NativeNames,
    node::Process,
};

/// Stands for the frames that are missing in the middle of a truncated stack.
const GAP: &str = "[truncated]";

/// Stands for the C functions that could not be walked through.
const CUT: &str = "[C frames missing]";

/// In which a dirty scheduler runs a process: what C calls below it belongs to that process.
const DIRTY_LOOP: &str = "erts_dirty_process_main";

/// In which a scheduler runs what a port has to do, for no process.
const PORT_TASK: &str = "erts_port_task_execute";

/// Collects samples of one recording.
pub(super) struct Assembler {
    frames: FrameTable,
    stacks: Stacks,
    sums: Sums,
    lines: Lines,
    names: NativeNames,
    callees: Callees,
    threads: FxHashMap<u32, (String, ThreadKind)>,
    names_given: FxHashMap<(u64, Space), Named>,
    quality: HashMap<Event, StackQuality>,
    /// Whether C frames were cut since [`Assembler::met_unknown_code`] was asked.
    has_cut: bool,
}

/// How an address is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Space {
    /// JIT code, the very instruction.
    JitLeaf,
    /// JIT code, the instruction after a call.
    JitReturn,
    /// Code of a file, the very instruction.
    Native,
    /// Code of a file, the instruction after a call.
    NativeReturn,
    /// Code of the kernel.
    Kernel,
}

#[derive(Clone, Copy, Debug)]
struct Named {
    frame: FrameId,
    symbolised: bool,
    /// Of an Erlang function.
    line: Option<SourceLine>,
}

impl Assembler {
    pub(super) fn new(process: &Process, emulator: &Emulator) -> Self {
        Self {
            frames: FrameTable::default(),
            stacks: Stacks::default(),
            sums: Sums::default(),
            lines: Lines::default(),
            names: NativeNames::new(process),
            callees: Callees::new(process, emulator),
            threads: FxHashMap::default(),
            names_given: FxHashMap::default(),
            quality: HashMap::new(),
            has_cut: false,
        }
    }

    /// Forgets names of JIT code; to be called when the code map has changed.
    pub(super) fn code_changed(&mut self) {
        self.names_given
            .retain(|&(_, space), _| !matches!(space, Space::JitLeaf | Space::JitReturn));
        self.callees.code_changed();
    }

    /// Adds a sample as it came from the kernel; its times count from `first_step`.
    pub(super) fn add(
        &mut self,
        raw: &RawSample,
        first_step: u32,
        code: &CodeMap,
        process: &Process,
    ) {
        let stack = self.stack_of(raw, code, process);
        let outcome = outcome_of(raw);
        self.count_quality(outcome, &stack, raw);
        self.lines.add(raw.event(), &stack.places, raw.weight);
        let key = StackKey {
            event: raw.event(),
            stack: stack.id,
            process: raw.process,
            tid: raw.tid,
            mode: if raw.mode == MODE_KERNEL { Mode::Kernel } else { Mode::User },
            outcome,
        };
        self.sums.add(key, raw, first_step);
    }

    /// Whether C frames were cut since this was asked last, so that new code may have been mapped.
    pub(super) fn met_unknown_code(&mut self) -> bool {
        std::mem::take(&mut self.has_cut)
    }

    fn count_quality(&mut self, outcome: StackOutcome, stack: &Growing, raw: &RawSample) {
        let count = raw.count;
        let quality = self.quality.entry(raw.event()).or_default();
        *match outcome {
            StackOutcome::Complete => &mut quality.complete,
            StackOutcome::Truncated => &mut quality.truncated,
            StackOutcome::Broken | StackOutcome::Unknown => &mut quality.broken,
            StackOutcome::NoProcess => &mut quality.no_process,
        } += count;
        if !stack.symbolised {
            quality.unsymbolised += count;
        }
        if outcome != StackOutcome::NoProcess && stack.places.is_empty() {
            quality.no_function += count;
        }
        if raw.native_outcome == NATIVE_CUT {
            quality.native_cut += count;
            self.has_cut = true;
        }
    }

    fn stack_of(&mut self, raw: &RawSample, code: &CodeMap, process: &Process) -> Growing {
        let kind = self.thread_kind(raw.tid, process);
        let mut stack = Growing { id: EMPTY, symbolised: true, places: Places::new() };
        let root = self.named(kind.name(), FrameKind::Thread);
        self.grow(&mut stack, root, 1);
        if let Some(wait) = self.wait_of(raw, code, process) {
            let wait = self.named(wait, FrameKind::Thread);
            self.grow(&mut stack, wait, 1);
        }
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
        if let Some(call) = raw.fragment_call().filter(|_| is_in_fragment(raw, code)) {
            let named = self.name(call, Space::JitReturn, code, process);
            self.grow(&mut stack, named, 1);
        }
        self.grow_inner(&mut stack, raw, code, process);
        stack
    }

    /// Why a thread was off the CPU. One that runs no process and no port and was not waiting for a
    /// lock had nothing to do.
    fn wait_of(
        &mut self,
        raw: &RawSample,
        code: &CodeMap,
        process: &Process,
    ) -> Option<&'static str> {
        match raw.wait {
            WAIT_RUNNABLE => Some("[runnable]"),
            WAIT_BLOCKED if raw.process != 0 => Some("[blocked]"),
            WAIT_BLOCKED => {
                let is_at_work = raw.native_frames().any(|address| {
                    let named = self.name(address, Space::NativeReturn, code, process);
                    let name = &self.frames.get(named.frame).name;
                    is_lock_wait(name) || name == PORT_TASK
                });
                Some(if is_at_work { "[blocked]" } else { "[idle]" })
            }
            _ => None,
        }
    }

    /// What comes below the Erlang stack: the call into C, the C functions, the kernel.
    fn grow_inner(
        &mut self,
        stack: &mut Growing,
        raw: &RawSample,
        code: &CodeMap,
        process: &Process,
    ) {
        if raw.boundary != 0 {
            self.grow_resumption(stack, raw, code, process);
            self.grow_boundary(stack, raw, code, process);
        }
        if raw.native_outcome == NATIVE_CUT {
            let cut = self.named(CUT, FrameKind::Native);
            self.grow(stack, cut, 1);
        }
        let native: Vec<Named> = raw
            .native_frames()
            .map(|address| self.name(address, Space::NativeReturn, code, process))
            .collect();
        let native = self.below_dirty_loop(raw, &native);
        if let Some(name) = self.dirty_callee(raw, native, code, process) {
            let named = self.named(&name, FrameKind::Bif);
            self.grow(stack, named, 1);
        } else if raw.boundary == 0 && raw.native_outcome != NATIVE_CUT {
            self.grow_resumption(stack, raw, code, process);
        }
        for &named in native {
            self.grow(stack, named, 1);
        }
        let space = if raw.leaf_in_jit == 1 { Space::JitLeaf } else { Space::Native };
        let leaf = self.name(raw.leaf, space, code, process);
        self.grow(stack, leaf, 1);
        for address in raw.kernel_frames() {
            let named = self.name(address, Space::Kernel, code, process);
            // At a tracepoint our own program is the innermost function.
            if self.frames.get(named.frame).name.starts_with("bpf_trace_run") {
                break;
            }
            self.grow(stack, named, 1);
        }
    }

    /// The function of a process that the scheduler takes in or out: the process left it without a return
    /// address. What it goes on with may be no function: one that starts, or one whose BIF was interrupted.
    fn grow_resumption(
        &mut self,
        stack: &mut Growing,
        raw: &RawSample,
        code: &CodeMap,
        process: &Process,
    ) {
        let Some(address) = raw.resumption().filter(|_| raw.process != 0) else { return };
        let named = self.name(address, Space::JitLeaf, code, process);
        if self.frames.get(named.frame).kind == FrameKind::Erlang {
            self.grow(stack, named, 1);
        }
    }

    /// The call from JIT code into C: what is called where it can be told, else the code that calls.
    fn grow_boundary(
        &mut self,
        stack: &mut Growing,
        raw: &RawSample,
        code: &CodeMap,
        process: &Process,
    ) {
        let callees = self.callees.at_boundary(raw, code, process);
        if callees.is_empty() {
            let named = self.name(raw.boundary, Space::JitReturn, code, process);
            self.grow(stack, named, 1);
        }
        for name in callees {
            let named = self.named(&name, FrameKind::Bif);
            self.grow(stack, named, 1);
        }
    }

    /// The C functions that belong to the process. Those of a normal scheduler begin at the call
    /// from JIT code; those of a dirty one begin at the thread's first function.
    fn below_dirty_loop<'a>(&self, raw: &RawSample, native: &'a [Named]) -> &'a [Named] {
        if raw.process == 0 || raw.boundary != 0 {
            return native;
        }
        let is_loop = |named: &Named| self.frames.get(named.frame).name == DIRTY_LOOP;
        let after = native.iter().position(is_loop).map_or(0, |at| at + 1);
        &native[after..]
    }

    /// What a dirty scheduler runs.
    fn dirty_callee(
        &mut self,
        raw: &RawSample,
        native: &[Named],
        code: &CodeMap,
        process: &Process,
    ) -> Option<String> {
        let outermost = native.first().filter(|_| raw.process != 0 && raw.boundary == 0)?;
        let outermost = &self.frames.get(outermost.frame).name;
        self.callees.on_dirty_scheduler(raw, outermost, code, process)
    }

    /// A frame that is not an address.
    fn named(&mut self, name: &str, kind: FrameKind) -> Named {
        let frame = self.frames.intern(Frame { name: name.into(), kind });
        Named { frame, symbolised: true, line: None }
    }

    fn grow(&mut self, stack: &mut Growing, named: Named, repeat: u32) {
        stack.symbolised &= named.symbolised;
        if self.frames.get(named.frame).kind.is_erlang_function() {
            stack.places.push((named.frame, named.line));
        }
        stack.id = self.stacks.push(stack.id, named.frame, repeat);
    }

    fn name(&mut self, address: u64, space: Space, code: &CodeMap, process: &Process) -> Named {
        if let Some(&named) = self.names_given.get(&(address, space)) {
            return named;
        }
        let is_native = matches!(space, Space::Native | Space::NativeReturn);
        if is_native && !self.names.is_mapped(address) {
            self.names.refresh(process);
        }
        let (frame, symbolised) = match space {
            Space::JitLeaf => jit_frame(code.name_at(address)),
            // The call is the instruction before; it may be the last of its function.
            Space::JitReturn => jit_frame(code.name_at(address.wrapping_sub(1))),
            Space::Native => native_frame(self.names.user(address), FrameKind::Native),
            Space::NativeReturn => {
                native_frame(self.names.user(address.wrapping_sub(1)), FrameKind::Native)
            }
            Space::Kernel => native_frame(self.names.kernel(address), FrameKind::Kernel),
        };
        let line = match space {
            Space::JitLeaf => code.line_at(address),
            Space::JitReturn => code.line_at(address.wrapping_sub(1)),
            _ => None,
        };
        let named = Named { frame: self.frames.intern(frame), symbolised, line };
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
}

/// Whether the innermost JIT code is a fragment, so that its return address is on top of the stack.
/// In a function it may be what an earlier call left there.
fn is_in_fragment(raw: &RawSample, code: &CodeMap) -> bool {
    let place = if raw.leaf_in_jit == 1 { raw.leaf } else { raw.boundary.wrapping_sub(1) };
    code.is_fragment(place)
}

/// A stack under construction, root first.
struct Growing {
    id: StackId,
    symbolised: bool,
    places: Places,
}
