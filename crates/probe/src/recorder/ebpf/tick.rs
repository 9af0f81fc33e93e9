//! Reads a tick of the ring buffer in the format of `send_tick` in `bpf/ticks.h`: a time, a `SampleHead`, frames.

use crate::kernel_interface::{FRAME_SLOTS, KernelTime, Plain, RawSample};

/// Reads a tick into `sample`, and returns its time. `None` if the bytes are no tick.
pub(super) fn read_tick(mut bytes: &[u8], sample: &mut RawSample) -> Option<KernelTime> {
    let mut nanos = 0_u64;
    nanos.read_from(&mut bytes)?;
    let RawSample { head, frames, native, kernel, .. } = sample;
    head.read_from(&mut bytes)?;
    let (inner, outer) = frames.split_at_mut(FRAME_SLOTS);
    fill(inner, head.frame_count, &mut bytes)?;
    fill(outer, head.outer_count, &mut bytes)?;
    fill(native, head.native_count, &mut bytes)?;
    fill(kernel, head.kernel_count, &mut bytes)?;
    sample.set_weight(sample.head.weight);
    bytes.is_empty().then_some(KernelTime::from_nanos(nanos))
}

fn fill(words: &mut [u64], count: u16, bytes: &mut &[u8]) -> Option<()> {
    words.get_mut(..count.into())?.iter_mut().try_for_each(|word| word.read_from(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel_interface::CpuMode;

    /// A tick of process 9 at address 7: two Erlang frames, an outer one, one in C and three in the kernel.
    fn tick() -> Vec<u8> {
        let words =
            |words: &[u64]| words.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<_>>();
        let halves = [2_u16, 3, 1, 1].map(u16::to_ne_bytes).concat();
        [
            words(&[1234, 1, 1, 9, 7, 0, 0, 0, 0, 0, 8]),
            5_u32.to_ne_bytes().to_vec(),
            vec![1, 2, 3, 4],
            halves,
            vec![1, 0, 0, 0, 0, 0, 0, 0],
            words(&[10, 20, 30, 40, 50, 60, 70]),
        ]
        .concat()
    }

    #[test]
    fn a_tick_is_a_sample() {
        let mut sample = RawSample::tick(0, 0, CpuMode::User);
        sample.set_erlang_frames(&[1, 2, 3]);
        assert_eq!(read_tick(&tick(), &mut sample), Some(KernelTime::from_nanos(1234)));
        assert_eq!((sample.head.process, sample.head.ip, sample.head.tid), (9, 7, 5));
        let head = sample.head;
        assert_eq!((head.mode, head.erlang_outcome, head.origin, head.ip_in_jit), (1, 2, 3, 4));
        assert_eq!(sample.erlang_frames().collect::<Vec<_>>(), [(20, 1), (10, 1)]);
        assert_eq!(sample.outer_frames().collect::<Vec<_>>(), [(30, 1)]);
        assert_eq!(sample.native_frames().collect::<Vec<_>>(), [40]);
        assert_eq!(sample.kernel_frames().collect::<Vec<_>>(), [70, 60, 50]);
        assert_eq!(sample.resumption(), Some(8));
        assert_eq!(sample.times().collect::<Vec<_>>(), [(0, 1)]);
    }

    #[test]
    fn other_bytes_are_none() {
        let (tick, mut sample) = (tick(), RawSample::tick(0, 0, CpuMode::User));
        for length in 0..tick.len() {
            assert_eq!(read_tick(&tick[..length], &mut sample), None, "{length}");
        }
        assert_eq!(read_tick(&[tick.as_slice(), &[0]].concat(), &mut sample), None);
        let mut many = tick;
        many[96..98].copy_from_slice(&u16::MAX.to_ne_bytes());
        assert_eq!(read_tick(&many, &mut sample), None);
    }
}
