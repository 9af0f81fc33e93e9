//! The bytes that may still be encoded for one write.

/// The bytes that may still be encoded for one write. The first message always fits.
pub(super) struct WriteBudget {
    bytes: usize,
    is_empty: bool,
}

impl WriteBudget {
    #[inline]
    pub(super) fn new(bytes: usize) -> Self {
        Self { bytes, is_empty: true }
    }

    /// Returns the number of messages of `size` bytes that fit.
    #[inline]
    pub(super) fn fits(&self, size: usize) -> u64 {
        (self.bytes / size).max(usize::from(self.is_empty)) as u64
    }

    #[inline]
    pub(super) fn take(&mut self, size: usize, count: u64) {
        let bytes = usize::try_from(count).map_or(usize::MAX, |count| size.saturating_mul(count));
        self.bytes = self.bytes.saturating_sub(bytes);
        self.is_empty &= count == 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::limits::CHUNK;

    /// Returns the number of messages of these sizes, in turn, that fit into one write.
    fn written(bytes: usize, sizes: &[usize]) -> usize {
        let mut budget = WriteBudget::new(bytes);
        let fitting = sizes.iter().cycle().take_while(|size| {
            let fits = budget.fits(**size) > 0;
            budget.take(**size, u64::from(fits));
            fits
        });
        fitting.count()
    }

    #[test]
    fn a_write_is_no_larger_than_there_is_room() {
        assert_eq!(WriteBudget::new(CHUNK).fits(69), 949);
        assert_eq!(written(CHUNK, &[69]), 949);
        assert_eq!(written(200, &[69, 62]), 3);
        assert_eq!(written(199, &[69, 62]), 2);
    }

    #[test]
    fn the_first_message_goes_whatever_its_size() {
        assert_eq!(written(0, &[69]), 1);
        assert_eq!(written(CHUNK, &[CHUNK + 1, 69]), 1);
        assert_eq!(written(CHUNK, &[69, CHUNK]), 1);
    }
}
