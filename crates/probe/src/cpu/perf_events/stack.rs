//! From a tick to the sample that the rest of the recorder knows: what of the Erlang stack and of the C
//! functions can be told from registers, frame pointers and the inner part of the stack.

use std::ops::Range;

use rabbitscope_profiles::ThreadKind;

use super::{
    records::{STACK_BYTES, Tick},
    threads::Thread,
};
use crate::{
    cpu::wire::{
        Live, NATIVE_CUT, NATIVE_FRAMES, NATIVE_JOINED, NATIVE_NONE, NATIVE_ROOT, OUTCOME_COMPLETE,
        OUTCOME_NO_ROOT, OUTCOME_TRUNCATED, RawSample,
    },
    native::{REG_R13, Registers, Step, Walker},
};

/// What is known of a node's code.
pub(super) struct StackReader {
    pub(super) walker: Walker,
    pub(super) live: Live,
    /// The return address at the bottom of every process's stack.
    pub(super) normal_exit: u64,
    /// JIT code that runs no process.
    pub(super) between_processes: Range<u64>,
    /// Whether JIT code keeps frame pointers (`+JPperf true`).
    pub(super) has_frame_pointers: bool,
    /// Addresses that the kernel gives at most.
    pub(super) most_addresses: usize,
}

/// A sample, and the address of the Erlang process that ran, where it is known.
pub(super) struct Read {
    pub(super) sample: RawSample,
    pub(super) process: Option<u64>,
}

/// Return addresses on the Erlang stack, innermost first, and how the walk ended.
type ErlangStack = (Vec<u64>, u8);

/// The C functions between the interrupted one and the call from JIT code.
#[derive(Default)]
struct Native {
    callers: Vec<u64>,
    outcome: u8,
    /// As JIT code left them.
    at_call: Option<Registers>,
}

impl StackReader {
    pub(super) fn read(&self, tick: &Tick, thread: Thread) -> Read {
        let leaf = tick.user.first().copied().or(tick.registers.map(|it| it.ip)).unwrap_or(0);
        let mut sample = RawSample::tick(thread.tid, leaf, tick.is_kernel);
        sample.set_kernel_frames(&tick.kernel);
        let is_scheduler = thread.kind == ThreadKind::Scheduler;
        if is_scheduler && self.live.holds(leaf) {
            return self.in_jit_code(tick, sample);
        }
        let native = self.native(tick, thread.jit_stack);
        sample.native_outcome = native.outcome;
        sample.set_native_frames(&native.callers);
        sample.boundary = native.at_call.map_or(0, |registers| registers.ip);
        let runs_process = match thread.kind {
            ThreadKind::Scheduler => !self.is_scheduling(&native),
            // It may run one, whose stack no frame pointer leads to.
            ThreadKind::DirtyCpu | ThreadKind::DirtyIo => true,
            _ => false,
        };
        if !runs_process {
            return Read { sample, process: None };
        }
        let by_pointers = if is_scheduler { self.by_frame_pointers(tick) } else { None };
        let (frames, outcome) = by_pointers.unwrap_or((Vec::new(), OUTCOME_NO_ROOT));
        sample.outcome = outcome;
        sample.set_erlang_frames(&frames);
        Read { sample, process: native.at_call.map(|registers| registers.saved[REG_R13]) }
    }

    /// Whether a scheduler is between two processes.
    fn is_scheduling(&self, native: &Native) -> bool {
        let is_between = |at: &Registers| self.between_processes.contains(&(at.ip - 1));
        native.outcome == NATIVE_ROOT || native.at_call.as_ref().is_some_and(is_between)
    }

    fn in_jit_code(&self, tick: &Tick, mut sample: RawSample) -> Read {
        sample.leaf_in_jit = 1;
        sample.native_outcome = NATIVE_NONE;
        let scanned = self.by_scan(&tick.stack);
        let is_whole = scanned.1 == OUTCOME_COMPLETE;
        let by_pointers = if is_whole { None } else { self.by_frame_pointers(tick) };
        let (frames, outcome) = by_pointers.unwrap_or(scanned);
        sample.outcome = outcome;
        sample.set_erlang_frames(&frames);
        Read { sample, process: tick.registers.map(|registers| registers.saved[REG_R13]) }
    }

    /// What the kernel found by following frame pointers, when it is an Erlang stack. C functions that
    /// have none use the register for something else; then there is no such stack.
    fn by_frame_pointers(&self, tick: &Tick) -> Option<ErlangStack> {
        if !self.has_frame_pointers {
            return None;
        }
        let callers = tick.user.get(1..)?;
        let first = callers.iter().position(|&address| self.live.holds(address))?;
        let erlang = &callers[first..];
        let root = erlang.iter().position(|&address| address == self.normal_exit);
        let frames = &erlang[..root.unwrap_or(erlang.len())];
        if !frames.iter().all(|&address| self.live.holds(address)) {
            return None;
        }
        let is_full = tick.user.len() + tick.kernel.len() >= self.most_addresses;
        match root {
            Some(_) => Some((frames.to_vec(), OUTCOME_COMPLETE)),
            None if is_full => Some((frames.to_vec(), OUTCOME_TRUNCATED)),
            None => None,
        }
    }

    /// Of an Erlang stack, whose only words that end in 00 and point into JIT code are return addresses.
    fn by_scan(&self, words: &[u64]) -> ErlangStack {
        let is_return = |word: &&u64| word.trailing_zeros() >= 2 && self.live.holds(**word);
        let returns = words.iter().filter(is_return).copied();
        let frames: Vec<u64> = returns.take_while(|&word| word != self.normal_exit).collect();
        let outcome = if words.contains(&self.normal_exit) {
            OUTCOME_COMPLETE
        } else if words.len() * 8 >= STACK_BYTES as usize {
            OUTCOME_TRUNCATED
        } else {
            OUTCOME_NO_ROOT
        };
        (frames, outcome)
    }

    /// `jit_stack` is where the stack of C begins when JIT code calls it.
    fn native(&self, tick: &Tick, jit_stack: Option<u64>) -> Native {
        let mut native = Native { outcome: NATIVE_CUT, ..Native::default() };
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
                    native.outcome = NATIVE_ROOT;
                    break;
                }
                Step::Caller(caller) if self.live.holds(caller.ip) => {
                    if Some(caller.sp) == jit_stack {
                        native.outcome = NATIVE_JOINED;
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
    use super::{StackReader, Tick};
    use crate::{
        cpu::{
            perf_events::{records::STACK_BYTES, threads::Thread},
            wire::{
                Live, OUTCOME_COMPLETE, OUTCOME_NO_PROCESS, OUTCOME_NO_ROOT, OUTCOME_TRUNCATED,
                Segment,
            },
        },
        native::{Registers, Walker},
    };
    use rabbitscope_profiles::ThreadKind;

    const EXIT: u64 = 0x1000;
    const PROCESS: u64 = 0x9990;

    fn reader(has_frame_pointers: bool) -> StackReader {
        let span = Segment { start: 0x1000, size: 0x1000 };
        let mut live = Live { envelope: span, ..Live::default() };
        live.segments[0] = span;
        StackReader {
            walker: Walker::default(),
            live,
            normal_exit: EXIT,
            between_processes: 0x1f00..0x2000,
            has_frame_pointers,
            most_addresses: 8,
        }
    }

    fn tick(user: &[u64], stack: &[u64]) -> Tick {
        let saved = [0, 0, 0, PROCESS, 0, 0];
        let registers = Some(Registers { ip: user[0], sp: 0x5000, saved });
        Tick { user: user.to_vec(), stack: stack.to_vec(), registers, ..Tick::default() }
    }

    #[track_caller]
    fn check(reader: &StackReader, tick: &Tick, kind: ThreadKind, frames: &[u64], outcome: u8) {
        let read = reader.read(tick, Thread { tid: 1, kind, jit_stack: None });
        let found: Vec<u64> = read.sample.erlang_frames().map(|(address, _)| address).collect();
        assert_eq!((found.as_slice(), read.sample.outcome), (frames, outcome));
    }

    #[test]
    fn frame_pointers_lead_from_jit_code_to_the_root() {
        let tick = tick(&[0x1800, 0x1104, 0x1208, 0x1208, EXIT], &[]);
        let scheduler = ThreadKind::Scheduler;
        check(&reader(true), &tick, scheduler, &[0x1208, 0x1104], OUTCOME_COMPLETE);
        check(&reader(false), &tick, scheduler, &[], OUTCOME_NO_ROOT);
        assert_eq!(
            reader(true).read(&tick, Thread { tid: 1, kind: scheduler, jit_stack: None }).process,
            Some(PROCESS)
        );
    }

    #[test]
    fn a_stack_that_is_at_hand_needs_no_frame_pointers() {
        let words = [0x1104, 0x1235, 0x7000, 0x1208, EXIT, 0x1304];
        let scheduler = ThreadKind::Scheduler;
        let tick = tick(&[0x1800], &words);
        check(&reader(false), &tick, scheduler, &[0x1208, 0x1104], OUTCOME_COMPLETE);
        check(&reader(true), &tick, scheduler, &[0x1208, 0x1104], OUTCOME_COMPLETE);
    }

    #[test]
    fn what_does_not_reach_the_root_is_not_complete() {
        let scheduler = ThreadKind::Scheduler;
        let long = tick(&[0x1800, 0x1104, 0x1108, 0x110c, 0x1110, 0x1114, 0x1118, 0x111c], &[]);
        let frames = [0x111c, 0x1118, 0x1114, 0x1110, 0x110c, 0x1108, 0x1104];
        check(&reader(true), &long, scheduler, &frames, OUTCOME_TRUNCATED);
        check(&reader(true), &tick(&[0x1800, 0x1104], &[]), scheduler, &[], OUTCOME_NO_ROOT);
        check(&reader(true), &tick(&[0x1800, 0x1104, 7], &[]), scheduler, &[], OUTCOME_NO_ROOT);
        let full = vec![0x1104; STACK_BYTES as usize / 8];
        check(&reader(false), &tick(&[0x1800], &full), scheduler, &[0x1104], OUTCOME_TRUNCATED);
    }

    #[test]
    fn frame_pointers_count_below_c_functions_too() {
        let scheduler = ThreadKind::Scheduler;
        let whole = tick(&[0x40, 0x50, 0x1104, EXIT], &[]);
        check(&reader(true), &whole, scheduler, &[0x1104], OUTCOME_COMPLETE);
        check(&reader(true), &tick(&[0x40, 0x50], &[]), scheduler, &[], OUTCOME_NO_ROOT);
        check(&reader(true), &whole, ThreadKind::Aux, &[], OUTCOME_NO_PROCESS);
        check(&reader(true), &whole, ThreadKind::DirtyIo, &[], OUTCOME_NO_ROOT);
    }
}
