//! The meaning of a raw sample's fields: frames with their repeats, addresses that may be absent, times.

use super::{
    CURRENT_WORDS, CpuMode, ErlangOutcome, FRAME_SLOTS, JitCode, KERNEL_FRAMES, NATIVE_FRAMES,
    NativeOutcome, Plain, ProbeEvent, REPEAT_SHIFT, RawSample, SampleHead, Segment, TIME_SLOTS,
    WaitState,
};

impl RawSample {
    /// A clock tick with only its thread and the interrupted instruction.
    pub(crate) fn tick(tid: u32, ip: u64, mode: CpuMode) -> Self {
        let head = SampleHead {
            count: 1,
            ip,
            tid,
            mode: mode.number(),
            event: ProbeEvent::Cpu.number(),
            ..SampleHead::ZERO
        };
        let mut sample = Self { head, ..Self::ZERO };
        sample.set_weight(1);
        sample
    }

    /// Sets the return addresses of the Erlang stack, innermost first. Addresses beyond the slots are dropped.
    pub(crate) fn set_erlang_frames(&mut self, addresses: &[u64]) {
        let mut count = 0;
        for same in addresses.chunk_by(|one, next| one == next).take(FRAME_SLOTS) {
            let repeats = same.len() as u64 - 1;
            self.frames[count] = same[0] | repeats << REPEAT_SHIFT;
            count += 1;
        }
        self.head.frame_count = count_of(count);
    }

    /// Sets the return addresses of C functions, innermost first.
    pub(crate) fn set_native_frames(&mut self, addresses: &[u64]) {
        self.head.native_count = fill(&mut self.native, addresses);
    }

    /// Sets the kernel addresses, innermost first.
    pub(crate) fn set_kernel_frames(&mut self, addresses: &[u64]) {
        self.head.kernel_count = fill(&mut self.kernel, addresses);
    }

    /// The event that caused the sample; `None` for an undefined number.
    pub(crate) fn event(&self) -> Option<ProbeEvent> {
        ProbeEvent::from_number(self.head.event)
    }

    /// The reason for the thread's absence from the CPU; `None` if it was on the CPU.
    pub(crate) fn wait(&self) -> Option<WaitState> {
        WaitState::from_number(self.head.wait).filter(|&wait| wait != WaitState::None)
    }

    /// Returns whether the kernel was interrupted.
    pub(crate) fn is_kernel(&self) -> bool {
        self.head.mode == CpuMode::Kernel.number()
    }

    /// The outcome of the walk of the Erlang stack; `None` for an undefined number.
    pub(crate) fn erlang_outcome(&self) -> Option<ErlangOutcome> {
        ErlangOutcome::from_number(self.head.erlang_outcome)
    }

    /// Returns whether C frames are missing.
    pub(crate) fn is_native_cut(&self) -> bool {
        self.head.native_outcome == NativeOutcome::Cut.number()
    }

    /// Returns whether a process ran.
    pub(crate) fn has_process(&self) -> bool {
        self.head.process != 0
    }

    /// Returns whether JIT code was interrupted.
    pub(crate) fn is_in_jit(&self) -> bool {
        self.head.ip_in_jit == 1
    }

    /// Return address of the call from JIT code into C. `None` if JIT code was interrupted, or if the walk of the C
    /// frames did not reach it.
    pub(crate) fn jit_return(&self) -> Option<u64> {
        (self.head.jit_return != 0).then_some(self.head.jit_return)
    }

    /// Return addresses on the Erlang stack, outermost first, with the number of consecutive activations. Only the
    /// inner part of a truncated stack.
    pub(crate) fn erlang_frames(&self) -> impl Iterator<Item = (u64, u32)> {
        frames_in(&self.frames[..FRAME_SLOTS], self.head.frame_count)
    }

    /// The innermost return address on the Erlang stack.
    pub(crate) fn innermost_call(&self) -> Option<u64> {
        let walked = self.erlang_frames().last().map(|(address, _)| address);
        self.fragment_call().or(walked)
    }

    /// The innermost return address on the Erlang stack if a fragment was running: the walk cannot recognise it.
    pub(crate) fn fragment_call(&self) -> Option<u64> {
        (self.head.fragment_call != 0).then_some(self.head.fragment_call)
    }

    /// The address, in the function it left, at which a process continues that is being scheduled in or out.
    pub(crate) fn resumption(&self) -> Option<u64> {
        (self.head.resumes_at != 0).then_some(self.head.resumes_at)
    }

    /// The words of the `ErtsCodeMFA` of the function for which C was called, if the VM has stored it.
    pub(crate) fn current_function(&self) -> Option<[u64; CURRENT_WORDS]> {
        (self.head.current[0] != 0).then_some(self.head.current)
    }

    /// The part at the root of a truncated stack, outermost first; else nothing.
    pub(crate) fn outer_frames(&self) -> impl Iterator<Item = (u64, u32)> {
        frames_in(&self.frames[FRAME_SLOTS..], self.head.outer_count)
    }

    /// Return addresses of C functions, outermost first.
    pub(crate) fn native_frames(&self) -> impl DoubleEndedIterator<Item = u64> {
        let count = usize::from(self.head.native_count).min(NATIVE_FRAMES);
        self.native[..count].iter().rev().copied()
    }

    /// The weight by time step since the generation began.
    pub(crate) fn times(&self) -> impl Iterator<Item = (u32, u64)> {
        (0..).zip(self.times).filter(|&(_, weight)| weight > 0)
    }

    /// Sets the weight, all of it in the first time step.
    pub(crate) fn set_weight(&mut self, weight: u64) {
        self.head.weight = weight;
        self.times = [0; TIME_SLOTS];
        self.times[0] = weight;
    }

    /// Kernel addresses, outermost first.
    pub(crate) fn kernel_frames(&self) -> impl Iterator<Item = u64> {
        let count = usize::from(self.head.kernel_count).min(KERNEL_FRAMES);
        self.kernel[..count].iter().rev().copied()
    }
}

/// Copies as many addresses as there are slots; returns their number.
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

impl JitCode {
    /// Returns whether `address` is JIT code.
    pub(crate) fn contains(&self, address: u64) -> bool {
        let in_segment = |segment: &Segment| address.wrapping_sub(segment.start) < segment.size;
        in_segment(&self.envelope) && self.segments.iter().any(in_segment)
    }
}

#[cfg(test)]
mod tests {
    use super::{CpuMode, FRAME_SLOTS, RawSample};

    #[test]
    fn frames_come_back_outermost_first() {
        let mut sample = RawSample::tick(1, 2, CpuMode::User);
        sample.set_erlang_frames(&[10, 20, 20, 20, 30]);
        assert_eq!(sample.erlang_frames().collect::<Vec<_>>(), [(30, 1), (20, 3), (10, 1)]);
        sample.set_native_frames(&[1, 2]);
        assert_eq!(sample.native_frames().collect::<Vec<_>>(), [2, 1]);
        sample.set_erlang_frames(&(0..300).collect::<Vec<_>>());
        assert_eq!(sample.erlang_frames().count(), FRAME_SLOTS);
        assert_eq!(sample.times().collect::<Vec<_>>(), [(0, 1)]);
    }
}
