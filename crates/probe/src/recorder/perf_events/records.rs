//! Parses the records of a ring (`perf_event_open(2)`, "MMAP layout"): samples and losses. A sample has the fields
//! that [`super::clock`] requests, in the order of the manual.

use perf_event_open_sys::bindings as sys;

use crate::{
    arch::machine::registers::{IN_RECORDS, Registers},
    kernel_interface::KernelTime,
};

/// Bytes of the user's stack in each sample, from the stack pointer on. Most C functions that Erlang calls fit. At
/// 999 Hz this is 2 MB/s for each busy CPU.
pub(super) const STACK_BYTES: u32 = 2048;

/// The requested registers as a mask (`sample_regs_user`).
pub(super) fn register_mask() -> u64 {
    IN_RECORDS.iter().map(|&number| 1 << number).sum()
}

/// One tick.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Tick {
    /// Id of the thread in this process's pid namespace.
    pub(super) tid: u32,
    pub(super) time: KernelTime,
    /// True if the thread was in the kernel.
    pub(super) is_kernel: bool,
    /// Addresses in the kernel, innermost first.
    pub(super) kernel: Vec<u64>,
    /// The interrupted user instruction and the frame-pointer chain, innermost first.
    pub(super) user: Vec<u64>,
    /// User registers; `None` for a kernel thread.
    pub(super) registers: Option<Registers>,
    /// Words from the user's stack pointer on.
    pub(super) stack: Vec<u64>,
}

/// Contents of a record.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Record {
    Tick(Tick),
    /// Number of samples without room in the ring.
    Lost(u64),
    /// Another kind of record, or an incomplete one.
    Other,
}

/// Parses a record. `body` are the bytes after its header.
pub(super) fn parse(kind: u32, misc: u16, body: &[u8]) -> Record {
    let mut words = Words { bytes: body };
    let parsed = match kind {
        sys::PERF_RECORD_SAMPLE => words.tick(misc).map(Record::Tick),
        // The event's id comes first.
        sys::PERF_RECORD_LOST => words.next().and_then(|_| words.next()).map(Record::Lost),
        sys::PERF_RECORD_LOST_SAMPLES => words.next().map(Record::Lost),
        _ => None,
    };
    parsed.unwrap_or(Record::Other)
}

/// The rest of a record, read word by word.
struct Words<'a> {
    bytes: &'a [u8],
}

impl Words<'_> {
    fn next(&mut self) -> Option<u64> {
        let (word, rest) = self.bytes.split_first_chunk::<8>()?;
        self.bytes = rest;
        Some(u64::from_ne_bytes(*word))
    }

    fn tick(&mut self, misc: u16) -> Option<Tick> {
        let ids = self.next()?;
        let mode = u32::from(misc) & sys::PERF_RECORD_MISC_CPUMODE_MASK;
        let mut tick = Tick {
            tid: (ids >> 32) as u32,
            time: KernelTime::from_nanos(self.next()?),
            is_kernel: mode == sys::PERF_RECORD_MISC_KERNEL,
            ..Tick::default()
        };
        self.chain(&mut tick)?;
        if self.next()? != u64::from(sys::PERF_SAMPLE_REGS_ABI_NONE) {
            tick.registers = Some(self.registers()?);
        }
        let stack_bytes = usize::try_from(self.next()?).ok()?;
        if stack_bytes > 0 {
            let stack = self.bytes.get(..stack_bytes)?;
            self.bytes = &self.bytes[stack_bytes..];
            let valid_bytes = usize::try_from(self.next()?).ok()?;
            let (words, _) = stack.get(..valid_bytes)?.as_chunks::<8>();
            tick.stack = words.iter().map(|word| u64::from_ne_bytes(*word)).collect();
        }
        Some(tick)
    }

    /// Reads the addresses of kernel and user, with markers between them.
    fn chain(&mut self, tick: &mut Tick) -> Option<()> {
        let mut is_user = false;
        for _ in 0..self.next()? {
            match self.next()? {
                sys::PERF_CONTEXT_USER => is_user = true,
                marker if marker >= sys::PERF_CONTEXT_MAX => is_user = false,
                address if is_user => tick.user.push(address),
                address => tick.kernel.push(address),
            }
        }
        Some(())
    }

    fn registers(&mut self) -> Option<Registers> {
        let mut values = [0; IN_RECORDS.len()];
        for value in &mut values {
            *value = self.next()?;
        }
        Some(Registers::from_record(values))
    }
}

#[cfg(test)]
mod tests {
    use perf_event_open_sys::bindings as sys;

    use super::{IN_RECORDS, Record, Registers, Tick, parse};
    use crate::kernel_interface::KernelTime;

    fn bytes(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    fn values() -> [u64; IN_RECORDS.len()] {
        std::array::from_fn(|index| 10 + index as u64)
    }

    fn sample() -> Vec<u8> {
        let thread = 0x4d << 32 | 0x46;
        let chain = [5, sys::PERF_CONTEXT_KERNEL, u64::MAX >> 1, sys::PERF_CONTEXT_USER, 10, 20];
        let registers = [&[sys::PERF_SAMPLE_REGS_ABI_64.into()], &values()[..]].concat();
        let stack = [24, 100, 200, 300, 16];
        bytes(&[&[thread, 5_000], &chain[..], &registers, &stack].concat())
    }

    #[test]
    fn a_sample_has_all_requested_fields() {
        let expected = Tick {
            tid: 77,
            time: KernelTime::from_nanos(5_000),
            is_kernel: true,
            kernel: vec![u64::MAX >> 1],
            user: vec![10, 20],
            registers: Some(Registers::from_record(values())),
            stack: vec![100, 200],
        };
        let kernel_mode = u16::try_from(sys::PERF_RECORD_MISC_KERNEL).unwrap();
        let found = parse(sys::PERF_RECORD_SAMPLE, kernel_mode, &sample());
        assert_eq!(found, Record::Tick(expected));
    }

    #[test]
    fn every_cut_of_a_sample_is_no_sample() {
        let whole = sample();
        for length in 0..whole.len() {
            let cut = parse(sys::PERF_RECORD_SAMPLE, 0, &whole[..length]);
            assert_eq!(cut, Record::Other, "{length} bytes");
        }
    }

    #[test]
    fn losses_are_counted() {
        assert_eq!(parse(sys::PERF_RECORD_LOST, 0, &bytes(&[1, 30])), Record::Lost(30));
        assert_eq!(parse(sys::PERF_RECORD_LOST_SAMPLES, 0, &bytes(&[4])), Record::Lost(4));
        assert_eq!(parse(sys::PERF_RECORD_EXIT, 0, &bytes(&[4])), Record::Other);
    }
}
