//! Makes a raw sample from a perf record. Walks the C frames and the Erlang stack as far as registers, frame
//! pointers and the inner part of the stack allow.

use std::ops::Range;

use rabbitscope_profiles::ThreadKind;

use super::{
    records::{STACK_BYTES, Tick},
    threads::Thread,
};
use crate::{
    arch::machine::{
        calls::calls_c_with,
        registers::{PROCESS, Registers},
    },
    kernel_interface::{CpuMode, ErlangOutcome, JitCode, NATIVE_FRAMES, NativeOutcome, RawSample},
    native::{Step, Walker},
};

/// The facts about the node's code that the walks need.
pub(super) struct StackReader {
    pub(super) walker: Walker,
    pub(super) jit: JitCode,
    /// The return address at the bottom of every process's stack.
    pub(super) normal_exit: u64,
    /// JIT code that schedules processes in and out.
    pub(super) schedule: Range<u64>,
    /// True if JIT code keeps frame pointers (`+JPperf true`).
    pub(super) has_frame_pointers: bool,
    /// True if the stack in a sample of JIT code is the Erlang stack.
    pub(super) has_erlang_stack: bool,
    /// The kernel's limit of addresses in a call chain.
    pub(super) max_addresses: usize,
}

/// A sample, and the address of the Erlang process that ran, if it is known.
pub(super) struct SampleStack {
    pub(super) sample: RawSample,
    pub(super) process: Option<u64>,
}

/// Return addresses on the Erlang stack, innermost first, and the outcome of the walk.
type ErlangStack = (Vec<u64>, ErlangOutcome);

/// The C functions between the interrupted one and the call from JIT code.
struct NativeWalk {
    callers: Vec<u64>,
    outcome: NativeOutcome,
    /// Registers at the call from JIT code.
    at_call: Option<Registers>,
}

impl StackReader {
    pub(super) fn read(&self, tick: &Tick, thread: Thread) -> SampleStack {
        let ip = tick
            .user
            .first()
            .copied()
            .or(tick.registers.map(|registers| registers.ip))
            .unwrap_or(0);
        let mode = if tick.is_kernel { CpuMode::Kernel } else { CpuMode::User };
        let mut sample = RawSample::tick(thread.tid, ip, mode);
        sample.set_kernel_frames(&tick.kernel);
        let is_scheduler = thread.kind == ThreadKind::Scheduler;
        if is_scheduler && self.jit.contains(ip) {
            return self.in_jit_code(tick, sample);
        }
        let native = self.native(tick, thread.jit_stack);
        sample.head.native_outcome = native.outcome.number();
        sample.set_native_frames(&native.callers);
        sample.head.jit_return = native.at_call.map_or(0, |registers| registers.ip);
        let runs_process = match thread.kind {
            ThreadKind::Scheduler => !self.is_scheduling(&native),
            // It may run a process, but no frame pointer leads to that stack.
            ThreadKind::DirtyCpu | ThreadKind::DirtyIo => true,
            _ => false,
        };
        if !runs_process {
            return SampleStack { sample, process: None };
        }
        let by_pointers = if is_scheduler { self.by_frame_pointers(tick) } else { None };
        let (frames, outcome) = by_pointers.unwrap_or((Vec::new(), ErlangOutcome::NoRoot));
        sample.head.erlang_outcome = outcome.number();
        sample.set_erlang_frames(&frames);
        SampleStack { sample, process: native.at_call.map(|registers| registers.saved[PROCESS]) }
    }

    /// Returns whether a scheduler runs no process.
    fn is_scheduling(&self, native: &NativeWalk) -> bool {
        let is_between = |call: &Registers| self.schedule.contains(&(call.ip - 1));
        native.outcome == NativeOutcome::ReachedRoot
            || native.at_call.as_ref().is_some_and(is_between)
    }

    fn in_jit_code(&self, tick: &Tick, mut sample: RawSample) -> SampleStack {
        sample.head.ip_in_jit = 1;
        sample.head.native_outcome = NativeOutcome::None.number();
        let scanned = self.by_scan(&tick.stack);
        let is_whole = scanned.1 == ErlangOutcome::Complete;
        let by_pointers = if is_whole { None } else { self.by_frame_pointers(tick) };
        let (frames, outcome) = by_pointers.unwrap_or(scanned);
        sample.head.erlang_outcome = outcome.number();
        sample.set_erlang_frames(&frames);
        SampleStack { sample, process: tick.registers.map(|registers| registers.saved[PROCESS]) }
    }

    /// The Erlang stack in the frame-pointer chain. `None` if the chain has none: C functions without frame
    /// pointers use the register for another purpose.
    fn by_frame_pointers(&self, tick: &Tick) -> Option<ErlangStack> {
        if !self.has_frame_pointers {
            return None;
        }
        let callers = tick.user.get(1..)?;
        let first = callers.iter().position(|&address| self.jit.contains(address))?;
        let erlang = &callers[first..];
        let root = erlang.iter().position(|&address| address == self.normal_exit);
        let frames = &erlang[..root.unwrap_or(erlang.len())];
        if !frames.iter().all(|&address| self.jit.contains(address)) {
            return None;
        }
        let is_full = tick.user.len() + tick.kernel.len() >= self.max_addresses;
        match root {
            Some(_) => Some((frames.to_vec(), ErlangOutcome::Complete)),
            None if is_full => Some((frames.to_vec(), ErlangOutcome::Truncated)),
            None => None,
        }
    }

    /// The Erlang stack by scanning: only return addresses have 00 in their low two bits and point into JIT code
    /// (see `bpf/erlang.h`).
    fn by_scan(&self, words: &[u64]) -> ErlangStack {
        if !self.has_erlang_stack {
            return (Vec::new(), ErlangOutcome::NoRoot);
        }
        let is_return = |word: &&u64| word.trailing_zeros() >= 2 && self.jit.contains(**word);
        let returns = words.iter().filter(is_return).copied();
        let frames: Vec<u64> = returns.take_while(|&word| word != self.normal_exit).collect();
        let outcome = if words.contains(&self.normal_exit) {
            ErlangOutcome::Complete
        } else if words.len() * 8 >= STACK_BYTES as usize {
            ErlangOutcome::Truncated
        } else {
            ErlangOutcome::NoRoot
        };
        (frames, outcome)
    }

    /// Walks the C frames. `jit_stack` is the stack pointer with which JIT code calls C.
    fn native(&self, tick: &Tick, jit_stack: Option<u64>) -> NativeWalk {
        let mut native =
            NativeWalk { callers: Vec::new(), outcome: NativeOutcome::Cut, at_call: None };
        let Some(mut at) = tick.registers else { return native };
        let low = at.sp;
        let word_at = |address: u64| {
            let offset = address.checked_sub(low).filter(|offset| offset % 8 == 0)?;
            tick.stack.get(usize::try_from(offset / 8).ok()?).copied()
        };
        for depth in 0..NATIVE_FRAMES {
            match self.walker.step(&at, depth > 0, word_at) {
                Step::Cut => break,
                Step::End => {
                    native.outcome = NativeOutcome::ReachedRoot;
                    break;
                }
                Step::Caller(caller) if self.jit.contains(caller.ip) => {
                    if jit_stack.is_some_and(|stack| calls_c_with(caller.sp, stack)) {
                        native.outcome = NativeOutcome::ReachedJit;
                        native.at_call = Some(caller);
                    }
                    break;
                }
                Step::Caller(caller) => {
                    native.callers.push(caller.ip);
                    at = caller;
                }
            }
        }
        native
    }
}

#[cfg(test)]
mod tests {
    use super::{PROCESS, Registers, StackReader, Tick};
    use crate::{
        arch::machine::registers::SAVED_REGISTERS,
        kernel_interface::{ErlangOutcome, JitCode, Segment},
        native::Walker,
        recorder::perf_events::{records::STACK_BYTES, threads::Thread},
    };
    use rabbitscope_profiles::ThreadKind;

    const EXIT: u64 = 0x1000;
    const ADDRESS: u64 = 0x9990;

    fn reader(has_frame_pointers: bool) -> StackReader {
        let span = Segment { start: 0x1000, size: 0x1000 };
        let mut jit = JitCode { envelope: span, ..JitCode::default() };
        jit.segments[0] = span;
        StackReader {
            walker: Walker::default(),
            jit,
            normal_exit: EXIT,
            schedule: 0x1f00..0x2000,
            has_frame_pointers,
            has_erlang_stack: true,
            max_addresses: 8,
        }
    }

    fn tick(user: &[u64], stack: &[u64]) -> Tick {
        let mut saved = [0; SAVED_REGISTERS];
        saved[PROCESS] = ADDRESS;
        let registers = Some(Registers { ip: user[0], sp: 0x5000, saved });
        Tick { user: user.to_vec(), stack: stack.to_vec(), registers, ..Tick::default() }
    }

    #[track_caller]
    fn check(
        reader: &StackReader,
        tick: &Tick,
        kind: ThreadKind,
        frames: &[u64],
        outcome: ErlangOutcome,
    ) {
        let read = reader.read(tick, Thread { tid: 1, kind, jit_stack: None });
        let found: Vec<u64> = read.sample.erlang_frames().map(|(address, _)| address).collect();
        assert_eq!((found.as_slice(), read.sample.erlang_outcome()), (frames, Some(outcome)));
    }

    #[test]
    fn frame_pointers_lead_from_jit_code_to_the_root() {
        let tick = tick(&[0x1800, 0x1104, 0x1208, 0x1208, EXIT], &[]);
        let scheduler = ThreadKind::Scheduler;
        check(&reader(true), &tick, scheduler, &[0x1208, 0x1104], ErlangOutcome::Complete);
        check(&reader(false), &tick, scheduler, &[], ErlangOutcome::NoRoot);
        assert_eq!(
            reader(true).read(&tick, Thread { tid: 1, kind: scheduler, jit_stack: None }).process,
            Some(ADDRESS)
        );
    }

    #[test]
    fn a_stack_that_is_at_hand_needs_no_frame_pointers() {
        let words = [0x1104, 0x1235, 0x7000, 0x1208, EXIT, 0x1304];
        let scheduler = ThreadKind::Scheduler;
        let tick = tick(&[0x1800], &words);
        check(&reader(false), &tick, scheduler, &[0x1208, 0x1104], ErlangOutcome::Complete);
        check(&reader(true), &tick, scheduler, &[0x1208, 0x1104], ErlangOutcome::Complete);
    }

    #[test]
    fn a_stack_that_misses_the_root_is_not_complete() {
        let scheduler = ThreadKind::Scheduler;
        let long = tick(&[0x1800, 0x1104, 0x1108, 0x110c, 0x1110, 0x1114, 0x1118, 0x111c], &[]);
        let frames = [0x111c, 0x1118, 0x1114, 0x1110, 0x110c, 0x1108, 0x1104];
        check(&reader(true), &long, scheduler, &frames, ErlangOutcome::Truncated);
        check(&reader(true), &tick(&[0x1800, 0x1104], &[]), scheduler, &[], ErlangOutcome::NoRoot);
        check(
            &reader(true),
            &tick(&[0x1800, 0x1104, 7], &[]),
            scheduler,
            &[],
            ErlangOutcome::NoRoot,
        );
        let full = vec![0x1104; STACK_BYTES as usize / 8];
        check(
            &reader(false),
            &tick(&[0x1800], &full),
            scheduler,
            &[0x1104],
            ErlangOutcome::Truncated,
        );
    }

    #[test]
    fn frame_pointers_count_below_c_functions_too() {
        let scheduler = ThreadKind::Scheduler;
        let whole = tick(&[0x40, 0x50, 0x1104, EXIT], &[]);
        check(&reader(true), &whole, scheduler, &[0x1104], ErlangOutcome::Complete);
        check(&reader(true), &tick(&[0x40, 0x50], &[]), scheduler, &[], ErlangOutcome::NoRoot);
        check(&reader(true), &whole, ThreadKind::Aux, &[], ErlangOutcome::NoProcess);
        check(&reader(true), &whole, ThreadKind::DirtyIo, &[], ErlangOutcome::NoRoot);
    }
}
