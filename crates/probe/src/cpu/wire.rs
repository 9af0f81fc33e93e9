//! The structures of `bpf/sampler.h`, as this side sees them.

use aya::Pod;

use rabbitscope_profiles::Event;

use crate::{
    beam::{CodeMfa, Snapshot},
    native::{Module, UnwindRow},
};

pub(super) const FRAME_SLOTS: usize = 256;
pub(super) const KERNEL_FRAMES: usize = 64;
pub(super) const NATIVE_FRAMES: usize = 64;
pub(super) const CURRENT_WORDS: usize = 3;
/// Numbers that have both forms.
pub(super) const ROWS_PER_CHUNK: u16 = 256;
pub(super) const BLOCKS_PER_CHUNK: u16 = 1024;
pub(super) const MODULES: usize = 128;
pub(super) const JIT_SEGMENTS: usize = 8;
pub(super) const SNAPSHOTS: u32 = 32;
pub(super) const TIME_SLOTS: usize = 32;

/// Length of a step of time.
pub(super) const TIME_STEP_NANOS: u64 = 50_000_000;

/// Bits of a frame that hold the address; those above count further consecutive activations.
const REPEAT_SHIFT: u32 = 48;

/// What happened since attach, by index in the `counters` map.
#[derive(Clone, Copy, Debug)]
pub(super) enum Counter {
    Ticks = 0,
    Lost = 1,
    New = 2,
    JitAgrees = 3,
    JitDisagrees = 4,
    KernelStackLost = 5,
    Sent = 6,
}

const MODE_USER: u8 = 0;
pub(super) const MODE_KERNEL: u8 = 1;

pub(super) const OUTCOME_NO_PROCESS: u8 = 0;
pub(super) const OUTCOME_COMPLETE: u8 = 1;
pub(super) const OUTCOME_TRUNCATED: u8 = 2;
pub(super) const OUTCOME_NO_ROOT: u8 = 3;

/// Events by their number.
const EVENTS: [Event; 7] = [
    Event::Cpu,
    Event::OffCpu,
    Event::Mmap,
    Event::Munmap,
    Event::Brk,
    Event::PageFaults,
    Event::ContextSwitches,
];

/// The number of an event on the other side.
pub(super) fn number_of(event: Event) -> u8 {
    let number = EVENTS.iter().position(|&it| it == event).expect("all events are listed");
    u8::try_from(number).expect("there are seven")
}

pub(super) const WAIT_BLOCKED: u8 = 1;
pub(super) const WAIT_RUNNABLE: u8 = 2;

pub(super) const NATIVE_NONE: u8 = 0;
pub(super) const NATIVE_JOINED: u8 = 1;
pub(super) const NATIVE_ROOT: u8 = 2;
pub(super) const NATIVE_CUT: u8 = 3;

/// Key of the `samples` map.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Key {
    pub(super) hash_a: u64,
    pub(super) hash_b: u64,
    pub(super) generation: u64,
}

/// Value of the `samples` map: a distinct sample and how often it was seen.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct RawSample {
    pub(super) count: u64,
    pub(super) weight: u64,
    pub(super) process: u64,
    pub(super) leaf: u64,
    pub(super) boundary: u64,
    /// See [`RawSample::called`].
    pub(super) current: [u64; CURRENT_WORDS],
    pub(super) fragment_call: u64,
    /// See [`RawSample::resumption`].
    pub(super) resumes_at: u64,
    pub(super) tid: u32,
    pub(super) mode: u8,
    pub(super) outcome: u8,
    pub(super) origin: u8,
    pub(super) leaf_in_jit: u8,
    pub(super) frame_count: u16,
    pub(super) kernel_count: u16,
    pub(super) outer_count: u16,
    pub(super) native_count: u16,
    pub(super) native_outcome: u8,
    pub(super) event: u8,
    pub(super) wait: u8,
    reserved: [u8; 5],
    pub(super) frames: [u64; 2 * FRAME_SLOTS],
    pub(super) native: [u64; NATIVE_FRAMES],
    pub(super) kernel: [u64; KERNEL_FRAMES],
    times: [u64; TIME_SLOTS],
}

impl RawSample {
    /// One tick on a thread of which nothing is known but where it was interrupted.
    pub(super) fn tick(tid: u32, leaf: u64, is_kernel: bool) -> Self {
        let mut times = [0; TIME_SLOTS];
        times[0] = 1;
        Self {
            count: 1,
            weight: 1,
            process: 0,
            leaf,
            boundary: 0,
            current: [0; CURRENT_WORDS],
            fragment_call: 0,
            resumes_at: 0,
            tid,
            mode: if is_kernel { MODE_KERNEL } else { MODE_USER },
            outcome: OUTCOME_NO_PROCESS,
            origin: 0,
            leaf_in_jit: 0,
            frame_count: 0,
            kernel_count: 0,
            outer_count: 0,
            native_count: 0,
            native_outcome: NATIVE_NONE,
            event: number_of(Event::Cpu),
            wait: 0,
            reserved: [0; 5],
            frames: [0; 2 * FRAME_SLOTS],
            native: [0; NATIVE_FRAMES],
            kernel: [0; KERNEL_FRAMES],
            times,
        }
    }

    /// Return addresses on the Erlang stack, innermost first; those that find no room are left out.
    pub(super) fn set_erlang_frames(&mut self, addresses: &[u64]) {
        let mut count = 0;
        for same in addresses.chunk_by(|one, next| one == next).take(FRAME_SLOTS) {
            let repeats = same.len() as u64 - 1;
            self.frames[count] = same[0] | repeats << REPEAT_SHIFT;
            count += 1;
        }
        self.frame_count = count_of(count);
    }

    /// Return addresses of C functions, innermost first.
    pub(super) fn set_native_frames(&mut self, addresses: &[u64]) {
        self.native_count = fill(&mut self.native, addresses);
    }

    /// Kernel addresses, innermost first.
    pub(super) fn set_kernel_frames(&mut self, addresses: &[u64]) {
        self.kernel_count = fill(&mut self.kernel, addresses);
    }

    /// What made it be taken.
    pub(super) fn event(&self) -> Event {
        EVENTS.into_iter().find(|&event| number_of(event) == self.event).unwrap_or(Event::Cpu)
    }

    /// Return addresses on the Erlang stack with the number of consecutive activations, outermost
    /// first. Of a truncated stack the part that ends at the leaf.
    pub(super) fn erlang_frames(&self) -> impl Iterator<Item = (u64, u32)> {
        frames_in(&self.frames[..FRAME_SLOTS], self.frame_count)
    }

    /// The innermost return address on the Erlang stack.
    pub(super) fn innermost_call(&self) -> Option<u64> {
        let walked = self.erlang_frames().last().map(|(address, _)| address);
        self.fragment_call().or(walked)
    }

    /// What is the innermost return address on the Erlang stack if a fragment was running: the walk could
    /// not tell it.
    pub(super) fn fragment_call(&self) -> Option<u64> {
        (self.fragment_call != 0).then_some(self.fragment_call)
    }

    /// Where the process goes on that was scheduled in or out: code of the function that it left.
    pub(super) fn resumption(&self) -> Option<u64> {
        (self.resumes_at != 0).then_some(self.resumes_at)
    }

    /// The function that C was called for, where the VM had noted it.
    pub(super) fn called(&self) -> Option<CodeMfa> {
        let [module, function, arity] = self.current;
        (module != 0).then_some(CodeMfa { module, function, arity })
    }

    /// Of a truncated stack the part that begins at the root; else nothing.
    pub(super) fn outer_frames(&self) -> impl Iterator<Item = (u64, u32)> {
        frames_in(&self.frames[FRAME_SLOTS..], self.outer_count)
    }

    /// Return addresses of C functions, outermost first.
    pub(super) fn native_frames(&self) -> impl DoubleEndedIterator<Item = u64> {
        let count = usize::from(self.native_count).min(NATIVE_FRAMES);
        self.native[..count].iter().rev().copied()
    }

    /// The weight by steps since the generation began.
    pub(super) fn times(&self) -> impl Iterator<Item = (u32, u64)> {
        (0..).zip(self.times).filter(|&(_, weight)| weight > 0)
    }

    /// All of the weight in one step.
    pub(super) fn set_weight(&mut self, weight: u64) {
        self.weight = weight;
        self.times = [0; TIME_SLOTS];
        self.times[0] = weight;
    }

    /// Kernel addresses, outermost first.
    pub(super) fn kernel_frames(&self) -> impl Iterator<Item = u64> {
        let count = usize::from(self.kernel_count).min(KERNEL_FRAMES);
        self.kernel[..count].iter().rev().copied()
    }
}

/// Copies what finds room; returns how many that were.
fn fill(slots: &mut [u64], addresses: &[u64]) -> u16 {
    for (slot, &address) in slots.iter_mut().zip(addresses) {
        *slot = address;
    }
    count_of(addresses.len().min(slots.len()))
}

fn count_of(slots: usize) -> u16 {
    u16::try_from(slots).expect("there are fewer slots")
}

fn frames_in(slots: &[u64], count: u16) -> impl Iterator<Item = (u64, u32)> {
    let count = usize::from(count).min(slots.len());
    slots[..count].iter().rev().map(|&entry| {
        let repeats = (entry >> REPEAT_SHIFT) as u32;
        (entry & ((1 << REPEAT_SHIFT) - 1), repeats + 1)
    })
}

/// A span of addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub(super) struct Segment {
    pub(super) start: u64,
    pub(super) size: u64,
}

/// Value of the `live` map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub(super) struct Live {
    pub(super) generation: u64,
    pub(super) since_nanos: u64,
    pub(super) generation_nanos: u64,
    pub(super) modules_version: u64,
    pub(super) envelope: Segment,
    pub(super) segments: [Segment; JIT_SEGMENTS],
}

impl Live {
    /// Whether `address` is JIT code.
    pub(super) fn holds(&self, address: u64) -> bool {
        let in_segment = |segment: &Segment| address.wrapping_sub(segment.start) < segment.size;
        in_segment(&self.envelope) && self.segments.iter().any(in_segment)
    }
}

/// Value of the `pending` map: a thread that is off the CPU.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Pending {
    pub(super) out_nanos: u64,
    pub(super) woken_nanos: u64,
    pub(super) sample: RawSample,
}

/// Value of the `unwind_rows` map.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct RowChunk(pub(super) [UnwindRow; ROWS_PER_CHUNK as usize]);

/// Value of the `row_blocks` map.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct BlockChunk(pub(super) [u32; BLOCKS_PER_CHUNK as usize]);

/// Value of the `modules` map.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Modules(pub(super) [Module; MODULES]);

/// Value of the `schedulers` map.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Scheduler {
    pub(super) data: u64,
    pub(super) runs_jit: u64,
}

// SAFETY: `repr(C)`, integers only, no padding (see the size test), so every bit pattern is valid.
#[expect(unsafe_code, reason = "aya copies these types to and from kernel memory")]
mod plain {
    use super::{
        BlockChunk, Key, Live, Modules, Pending, Pod, RawSample, RowChunk, Scheduler, Snapshot,
    };

    // SAFETY: as above.
    unsafe impl Pod for Key {}
    // SAFETY: as above.
    unsafe impl Pod for RawSample {}
    // SAFETY: as above.
    unsafe impl Pod for Live {}
    // SAFETY: as above.
    unsafe impl Pod for Scheduler {}
    // SAFETY: as above.
    unsafe impl Pod for Snapshot {}
    // SAFETY: as above.
    unsafe impl Pod for Pending {}
    // SAFETY: as above.
    unsafe impl Pod for RowChunk {}
    // SAFETY: as above.
    unsafe impl Pod for BlockChunk {}
    // SAFETY: as above.
    unsafe impl Pod for Modules {}
}

#[cfg(test)]
mod tests {
    use super::{
        BlockChunk, FRAME_SLOTS, KERNEL_FRAMES, Key, Live, Modules, NATIVE_FRAMES, RawSample,
        RowChunk, Snapshot, TIME_SLOTS,
    };

    /// The number after `#define NAME` in the header that the kernel side is compiled from.
    fn defined(name: &str) -> usize {
        let header = include_str!("../../bpf/sampler.h");
        let line = header.lines().find_map(|line| line.strip_prefix(&format!("#define {name} ")));
        line.unwrap().split_whitespace().next().unwrap().parse().unwrap()
    }

    #[test]
    fn frames_come_back_outermost_first() {
        let mut sample = RawSample::tick(1, 2, false);
        sample.set_erlang_frames(&[10, 20, 20, 20, 30]);
        assert_eq!(sample.erlang_frames().collect::<Vec<_>>(), [(30, 1), (20, 3), (10, 1)]);
        sample.set_native_frames(&[1, 2]);
        assert_eq!(sample.native_frames().collect::<Vec<_>>(), [2, 1]);
        sample.set_erlang_frames(&(0..300).collect::<Vec<_>>());
        assert_eq!(sample.erlang_frames().count(), FRAME_SLOTS);
        assert_eq!(sample.times().collect::<Vec<_>>(), [(0, 1)]);
    }

    #[test]
    fn both_sides_agree_on_sizes() {
        assert_eq!(FRAME_SLOTS, defined("FRAME_SLOTS"));
        assert_eq!(KERNEL_FRAMES, defined("KERNEL_FRAMES"));
        assert_eq!(super::JIT_SEGMENTS, defined("JIT_SEGMENTS"));
        assert_eq!(super::SNAPSHOTS as usize, defined("SNAPSHOTS"));
        assert_eq!(super::REPEAT_SHIFT as usize, defined("REPEAT_SHIFT"));
        assert_eq!(NATIVE_FRAMES, defined("NATIVE_FRAMES"));
        assert_eq!(super::CURRENT_WORDS, defined("CURRENT_WORDS"));
        assert_eq!(usize::from(super::ROWS_PER_CHUNK), defined("ROWS_PER_CHUNK"));
        assert_eq!(usize::from(super::BLOCKS_PER_CHUNK), defined("BLOCKS_PER_CHUNK"));
        assert_eq!(super::MODULES, defined("MODULES"));
        assert_eq!(super::TIME_SLOTS, defined("TIME_SLOTS"));
        let words = 2 * FRAME_SLOTS + NATIVE_FRAMES + KERNEL_FRAMES + TIME_SLOTS;
        assert_eq!(size_of::<RawSample>(), 80 + 8 * (words + super::CURRENT_WORDS));
        assert_eq!(size_of::<Key>(), 24);
        assert_eq!(size_of::<RowChunk>(), 16 * usize::from(super::ROWS_PER_CHUNK));
        assert_eq!(size_of::<BlockChunk>(), 4 * usize::from(super::BLOCKS_PER_CHUNK));
        assert_eq!(size_of::<Modules>(), 48 * super::MODULES);
        assert_eq!(size_of::<Live>(), 32 + 16 * (1 + super::JIT_SEGMENTS));
        assert_eq!(size_of::<Snapshot>(), 32 + 2 * 8 * defined("SNAPSHOT_WORDS"));
    }
}
