//! Ticks on their way out of the kernel: samples of which only what is used is sent, `struct tick` of
//! `bpf/sampler.h`.

use super::wire::{FRAME_SLOTS, RawSample};

/// Fields that are not yet read.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn bytes<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (&taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.bytes().map(|[byte]| byte)
    }

    fn half(&mut self) -> Option<u16> {
        self.bytes().map(u16::from_ne_bytes)
    }

    fn word(&mut self) -> Option<u64> {
        self.bytes().map(u64::from_ne_bytes)
    }

    fn fill(&mut self, words: &mut [u64], count: u16) -> Option<()> {
        for word in words.get_mut(..count.into())? {
            *word = self.word()?;
        }
        Some(())
    }
}

/// Reads a tick over another one. Gives the moment of the kernel's monotonic clock at which it was taken;
/// `None` if the bytes are no tick.
pub(super) fn read_tick(bytes: &[u8], sample: &mut RawSample) -> Option<u64> {
    let mut fields = Fields(bytes);
    let nanos = fields.word()?;
    sample.count = fields.word()?;
    sample.set_weight(fields.word()?);
    sample.process = fields.word()?;
    sample.leaf = fields.word()?;
    sample.boundary = fields.word()?;
    for word in &mut sample.current {
        *word = fields.word()?;
    }
    sample.fragment_call = fields.word()?;
    sample.resumes_at = fields.word()?;
    sample.tid = fields.bytes().map(u32::from_ne_bytes)?;
    sample.mode = fields.byte()?;
    sample.outcome = fields.byte()?;
    sample.origin = fields.byte()?;
    sample.leaf_in_jit = fields.byte()?;
    sample.frame_count = fields.half()?;
    sample.kernel_count = fields.half()?;
    sample.outer_count = fields.half()?;
    sample.native_count = fields.half()?;
    sample.native_outcome = fields.byte()?;
    sample.event = fields.byte()?;
    sample.wait = fields.byte()?;
    fields.bytes::<5>()?;
    let (inner, outer) = sample.frames.split_at_mut(FRAME_SLOTS);
    fields.fill(inner, sample.frame_count)?;
    fields.fill(outer, sample.outer_count)?;
    fields.fill(&mut sample.native, sample.native_count)?;
    fields.fill(&mut sample.kernel, sample.kernel_count)?;
    fields.0.is_empty().then_some(nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Process 9 at 7, with two Erlang frames, an outer one, one in C and three in the kernel.
    fn tick() -> Vec<u8> {
        let words =
            |words: &[u64]| words.iter().flat_map(|it| it.to_ne_bytes()).collect::<Vec<_>>();
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
        let mut sample = RawSample::tick(0, 0, false);
        sample.set_erlang_frames(&[1, 2, 3]);
        assert_eq!(read_tick(&tick(), &mut sample), Some(1234));
        assert_eq!((sample.process, sample.leaf, sample.tid), (9, 7, 5));
        assert_eq!((sample.mode, sample.outcome, sample.origin, sample.leaf_in_jit), (1, 2, 3, 4));
        assert_eq!(sample.erlang_frames().collect::<Vec<_>>(), [(20, 1), (10, 1)]);
        assert_eq!(sample.outer_frames().collect::<Vec<_>>(), [(30, 1)]);
        assert_eq!(sample.native_frames().collect::<Vec<_>>(), [40]);
        assert_eq!(sample.kernel_frames().collect::<Vec<_>>(), [70, 60, 50]);
        assert_eq!(sample.resumption(), Some(8));
        assert_eq!(sample.times().collect::<Vec<_>>(), [(0, 1)]);
    }

    #[test]
    fn other_bytes_are_none() {
        let (tick, mut sample) = (tick(), RawSample::tick(0, 0, false));
        for length in 0..tick.len() {
            assert_eq!(read_tick(&tick[..length], &mut sample), None, "{length}");
        }
        assert_eq!(read_tick(&[tick.as_slice(), &[0]].concat(), &mut sample), None);
        let mut many = tick;
        many[96..98].copy_from_slice(&u16::MAX.to_ne_bytes());
        assert_eq!(read_tick(&many, &mut sample), None);
    }
}
