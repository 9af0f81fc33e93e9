//! Packets by length.

use crate::report::{SIZE_BINS, SizeBin};

/// Counts packets in the bins of [`SIZE_BINS`].
#[derive(Debug)]
pub(super) struct Sizes([SizeBin; SIZE_BINS.len()]);

impl Default for Sizes {
    fn default() -> Self {
        let bin = |index: usize| SizeBin {
            from: SIZE_BINS[index],
            to: SIZE_BINS.get(index + 1).map(|next| next - 1),
            ..SizeBin::default()
        };
        Self(std::array::from_fn(bin))
    }
}

impl Sizes {
    /// Counts a packet of `length` bytes on the wire.
    pub(super) fn add(&mut self, length: u32) {
        // Bins are in ascending order, so a binary search finds the first bin above the length.
        let after = SIZE_BINS.partition_point(|from| *from <= length);
        let bin = &mut self.0[after - 1];
        bin.min = if bin.packets == 0 { length } else { bin.min.min(length) };
        bin.max = bin.max.max(length);
        bin.packets += 1;
        bin.bytes += u64::from(length);
    }

    pub(super) fn report(&self) -> Vec<SizeBin> {
        self.0.to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_counts_in_the_bin_that_has_it() {
        let mut sizes = Sizes::default();
        for length in [0, 19, 20, 160, 319, 5119, 5120, 70_000] {
            sizes.add(length);
        }
        let counts: Vec<u64> = sizes.report().iter().map(|bin| bin.packets).collect();
        assert_eq!(counts, [2, 1, 0, 0, 2, 0, 0, 0, 1, 2]);
        let last = sizes.report()[9];
        assert_eq!((last.to, last.min, last.max, last.bytes), (None, 5120, 70_000, 75_120));
        assert_eq!(sizes.report()[4].to, Some(319));
    }
}
