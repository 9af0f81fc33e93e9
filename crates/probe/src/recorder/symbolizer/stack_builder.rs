//! Orders the frames of one raw sample, root first: thread, wait state, Erlang stack, the call into C, C functions,
//! kernel.

use rabbitscope_profiles::{FrameKind, ThreadKind, is_lock_wait};

use super::{
    callees::Callees,
    frames::{AddressKind, Frames, NamedFrame, NodeCode},
    lines::FunctionLines,
    stacks::{EMPTY, StackId, Stacks},
    steps::{Outcome, Step, Steps},
};
use crate::{
    arch::{InnermostCall, machine::calls::is_call},
    beam::SCHEDULE,
    kernel_interface::{ErlangOutcome, RawSample, WaitState},
};

/// Replacement for the missing frames in the middle of a truncated stack.
const TRUNCATED: &str = "[truncated]";

/// Replacement for the C functions that the walk did not reach.
const NATIVE_CUT: &str = "[C frames missing]";

/// The C function in which a dirty scheduler runs processes. Its callees belong to the process.
const DIRTY_LOOP: &str = "erts_dirty_process_main";

/// The C function in which a scheduler runs a port's tasks, for no process.
const PORT_TASK: &str = "erts_port_task_execute";

/// Prefix of the kernel functions that call our own program: at a tracepoint the kernel stack ends with them.
const OWN_PROGRAM: &str = "bpf_trace_run";

/// The frames of one sample.
#[derive(Clone, Copy, Debug)]
pub(super) struct NamedStack {
    pub(super) id: StackId,
    /// True if every frame has a symbol.
    pub(super) is_symbolized: bool,
    /// True if the stack has an Erlang function.
    pub(super) has_function: bool,
}

/// Parts of the symbolizer that build a stack.
pub(super) struct StackBuilder<'a> {
    pub(super) frames: &'a mut Frames,
    pub(super) stacks: &'a mut Stacks,
    pub(super) steps: &'a mut Steps,
    pub(super) callees: &'a mut Callees,
    /// Output: the functions of the stack and their lines. Empty at first.
    pub(super) function_lines: &'a mut FunctionLines,
    pub(super) node: NodeCode<'a>,
    pub(super) raw: &'a RawSample,
    pub(super) stack: NamedStack,
}

impl NamedStack {
    pub(super) fn empty() -> Self {
        Self { id: EMPTY, is_symbolized: true, has_function: false }
    }
}

impl StackBuilder<'_> {
    /// The whole stack of the sample on a thread of this kind.
    pub(super) fn build(mut self, thread: ThreadKind) -> NamedStack {
        let root = self.frames.by_thread(thread);
        self.push(root, 1);
        if let Some(wait) = self.wait_state() {
            self.push_name(wait, FrameKind::Thread);
        }
        self.push_erlang_stack();
        self.push_native_stack();
        self.push_kernel_stack();
        self.stack
    }

    /// The reason for the thread's absence from the CPU. A thread is idle if it runs no process and no port task
    /// and does not wait for a lock.
    fn wait_state(&mut self) -> Option<&'static str> {
        match self.raw.wait()? {
            WaitState::None => None,
            WaitState::Runnable => Some("[runnable]"),
            WaitState::Blocked if self.raw.has_process() => Some("[blocked]"),
            WaitState::Blocked => {
                let is_working = self.raw.native_frames().any(|address| {
                    let name = self.native_name(address);
                    is_lock_wait(name) || name == PORT_TASK
                });
                Some(if is_working { "[blocked]" } else { "[idle]" })
            }
        }
    }

    fn push_erlang_stack(&mut self) {
        let raw = self.raw;
        for (address, repeat) in raw.outer_frames() {
            self.push_address(address, AddressKind::JitReturn, repeat);
        }
        if raw.erlang_outcome() == Some(ErlangOutcome::Truncated) {
            self.push_name(TRUNCATED, FrameKind::VmFragment);
        }
        for (address, repeat) in raw.erlang_frames() {
            self.push_address(address, AddressKind::JitReturn, repeat);
        }
        if let Some(call) = raw.fragment_call().filter(|&call| self.is_innermost_call(call)) {
            self.push_address(call, AddressKind::JitReturn, 1);
        }
        if let Some(jit_return) = raw.jit_return() {
            self.push_resumption();
            self.push_native_call(jit_return);
        }
    }

    /// Returns whether a word is the return address of the innermost JIT code.
    fn is_innermost_call(&self, call: u64) -> bool {
        let (raw, code) = (self.raw, self.node.code);
        let place = if raw.is_in_jit() { raw.head.ip } else { raw.head.jit_return.wrapping_sub(1) };
        let (here, caller) = (code.name_at(place), code.name_at(call.wrapping_sub(1)));
        is_call(InnermostCall {
            is_in_fragment: code.is_fragment(place),
            is_scheduling: here == Some(SCHEDULE),
            returns_to_fragment: code.is_fragment(call.wrapping_sub(1)),
            returns_to_itself: here == caller,
            is_on_stack: raw.erlang_frames().last().is_some_and(|(address, _)| address == call),
        })
    }

    /// Pushes the function of a process that is being scheduled in or out, which left it without a return address.
    /// The address may be no function: for a process that starts, or whose BIF was interrupted.
    fn push_resumption(&mut self) {
        let Some(address) = self.raw.resumption().filter(|_| self.raw.has_process()) else {
            return;
        };
        let frame = self.frames.by_address(address, AddressKind::JitInstruction, self.node);
        if self.frames.get(frame.id).kind == FrameKind::Erlang {
            self.push(frame, 1);
        }
    }

    /// Pushes the call from JIT code into C: the BIF or NIF if it is known, else the calling code.
    fn push_native_call(&mut self, jit_return: u64) {
        let callees = self.callees.at_native_call(self.raw, self.node, self.frames);
        if callees.is_empty() {
            self.push_address(jit_return, AddressKind::JitReturn, 1);
        }
        for &callee in &*callees {
            self.push(callee, 1);
        }
    }

    fn push_native_stack(&mut self) {
        let raw = self.raw;
        if raw.is_native_cut() {
            self.push_name(NATIVE_CUT, FrameKind::Native);
        }
        let above = self.frames_above_process();
        if let Some(name) = self.dirty_callee() {
            self.push_name(&name, FrameKind::Bif);
        } else if raw.jit_return().is_none() && !raw.is_native_cut() {
            self.push_resumption();
        }
        for address in raw.native_frames().skip(above) {
            self.push_address(address, AddressKind::NativeReturn, 1);
        }
        let kind = if raw.is_in_jit() {
            AddressKind::JitInstruction
        } else {
            AddressKind::NativeInstruction
        };
        self.push_address(raw.head.ip, kind, 1);
    }

    /// Number of C frames outside the process. On a normal scheduler the C frames start at the call from JIT code.
    /// On a dirty scheduler they start at the thread's first function.
    fn frames_above_process(&mut self) -> usize {
        let raw = self.raw;
        if !raw.has_process() || raw.jit_return().is_some() {
            return 0;
        }
        let is_loop = |address| self.native_name(address) == DIRTY_LOOP;
        raw.native_frames().position(is_loop).map_or(0, |index| index + 1)
    }

    fn native_name(&mut self, return_address: u64) -> &str {
        let frame = self.frames.by_address(return_address, AddressKind::NativeReturn, self.node);
        self.frames.name(frame)
    }

    /// The BIF or NIF that a dirty scheduler runs.
    fn dirty_callee(&mut self) -> Option<String> {
        let is_dirty = self.raw.has_process() && self.raw.jit_return().is_none();
        is_dirty.then(|| self.callees.on_dirty_scheduler(self.raw, self.node)).flatten()
    }

    fn push_kernel_stack(&mut self) {
        for address in self.raw.kernel_frames() {
            let step = self.step(address, AddressKind::Kernel, 1);
            if let Some(known) = self.steps.get(step) {
                self.follow(known);
                continue;
            }
            let frame = self.frames.by_address(address, AddressKind::Kernel, self.node);
            if self.frames.name(frame).starts_with(OWN_PROGRAM) {
                break;
            }
            self.push_step(step, frame);
        }
    }

    fn push_name(&mut self, name: &str, kind: FrameKind) {
        let frame = self.frames.by_name(name, kind);
        self.push(frame, 1);
    }

    fn push_address(&mut self, address: u64, kind: AddressKind, repeat: u32) {
        let step = self.step(address, kind, repeat);
        if let Some(known) = self.steps.get(step) {
            return self.follow(known);
        }
        let frame = self.frames.by_address(address, kind, self.node);
        self.push_step(step, frame);
    }

    fn step(&self, address: u64, kind: AddressKind, repeat: u32) -> Step {
        Step::new(address, self.stack.id, kind, repeat)
    }

    fn push_step(&mut self, step: Step, frame: NamedFrame) {
        let outcome = self.push(frame, step.repeat());
        if frame.is_lasting {
            self.steps.insert(step, outcome);
        }
    }

    fn push(&mut self, frame: NamedFrame, repeat: u32) -> Outcome {
        let stack = self.stacks.push(self.stack.id, frame.id, repeat);
        let is_function = self.frames.get(frame.id).kind.is_erlang_function();
        let outcome = Outcome::new(stack, frame, is_function);
        self.follow(outcome);
        outcome
    }

    fn follow(&mut self, outcome: Outcome) {
        self.stack.id = outcome.stack;
        self.stack.is_symbolized &= outcome.is_symbolized;
        self.stack.has_function |= outcome.is_function;
        if outcome.is_function {
            self.function_lines.push((outcome.frame, outcome.line));
        }
    }
}
