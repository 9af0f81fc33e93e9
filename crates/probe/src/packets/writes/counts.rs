//! Counts of writes and reads, by size.

use crate::kernel_interface::{Plain, SIZE_BUCKET_BITS, SIZE_BUCKETS, SizeCounts, SocketCall};

/// Direction of data between the node and a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WriteDirection {
    /// Writes: from the node.
    Sent,
    /// Reads: to the node.
    Received,
}

impl WriteDirection {
    pub(super) fn call(self) -> SocketCall {
        match self {
            Self::Sent => SocketCall::Send,
            Self::Received => SocketCall::Receive,
        }
    }
}

/// Calls with sizes between two bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeBucket {
    /// The smallest size, in bytes.
    pub first: u32,
    /// The largest size, in bytes.
    pub last: u32,
    /// Number of calls with such a size.
    pub calls: u64,
}

/// Calls of a node in one direction, calls of 0 bytes included. A read of 0 bytes is the end of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteCounts {
    /// Calls that moved data or met the end of the stream.
    pub calls: u64,
    /// Bytes that they moved.
    pub bytes: u64,
    /// Writes without room in the send buffer, or reads without data.
    pub would_block: u64,
    /// Calls that failed for another reason.
    pub failed: u64,
    buckets: [u64; SIZE_BUCKETS],
}

impl WriteCounts {
    /// The sum of the counts of all CPUs.
    pub(super) fn sum(counts: impl IntoIterator<Item = SizeCounts>) -> Self {
        let SizeCounts { calls, bytes, would_block, failed, buckets } = SizeCounts::ZERO;
        let mut sum = Self { calls, bytes, would_block, failed, buckets };
        for one in counts {
            sum.calls += one.calls;
            sum.bytes += one.bytes;
            sum.would_block += one.would_block;
            sum.failed += one.failed;
            for (bucket, more) in sum.buckets.iter_mut().zip(one.buckets) {
                *bucket += more;
            }
        }
        sum
    }

    /// The counts since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut since = self.clone();
        since.calls = self.calls.saturating_sub(earlier.calls);
        since.bytes = self.bytes.saturating_sub(earlier.bytes);
        since.would_block = self.would_block.saturating_sub(earlier.would_block);
        since.failed = self.failed.saturating_sub(earlier.failed);
        for (bucket, before) in since.buckets.iter_mut().zip(earlier.buckets) {
            *bucket = bucket.saturating_sub(before);
        }
        since
    }

    /// The non-empty buckets, in order of size. Sizes up to 15 bytes have a bucket each. Above, a bucket is an
    /// eighth of a power of two wide.
    pub fn buckets(&self) -> impl Iterator<Item = SizeBucket> {
        let all = (0..).zip(self.buckets).filter(|&(_, calls)| calls > 0);
        all.map(|(index, calls)| {
            let (first, last) = bounds(index);
            SizeBucket { first, last, calls }
        })
    }

    /// Mean size in bytes; `None` without calls.
    pub fn mean(&self) -> Option<f64> {
        (self.calls > 0).then(|| self.bytes as f64 / self.calls as f64)
    }

    /// The bucket of the size that half of the calls do not exceed; `None` without calls.
    pub fn median(&self) -> Option<SizeBucket> {
        let mut left = self.calls.div_ceil(2);
        self.buckets().find(|bucket| {
            let is_reached = bucket.calls >= left;
            left = left.saturating_sub(bucket.calls);
            is_reached
        })
    }
}

/// The smallest and the largest size of a bucket: the inverse of `bucket_of` in `bpf/writes.bpf.c`.
fn bounds(index: u32) -> (u32, u32) {
    let row = index >> SIZE_BUCKET_BITS;
    if row < 2 {
        return (index, index);
    }
    let width = 1_u32.checked_shl(row - 1).unwrap_or(u32::MAX);
    let within = index & ((1 << SIZE_BUCKET_BITS) - 1);
    let first = width.saturating_mul((1 << SIZE_BUCKET_BITS) + within);
    (first, first.saturating_add(width - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_of_buckets() {
        let check = |index, expected| assert_eq!(bounds(index), expected, "{index}");
        check(0, (0, 0));
        check(15, (15, 15));
        check(16, (16, 17));
        check(23, (30, 31));
        check(24, (32, 35));
        check(231, (15 << 27, (1 << 31) - 1));
    }

    #[test]
    fn every_size_has_one_bucket() {
        let mut next = 0;
        for index in 0..232 {
            let (first, last) = bounds(index);
            assert_eq!(first, next);
            next = last + 1;
        }
        for index in 232..SIZE_BUCKETS {
            let _ = bounds(u32::try_from(index).unwrap());
        }
    }

    #[test]
    fn counts_of_all_cpus() {
        let one = |bucket: usize, calls, bytes| {
            let mut counts = SizeCounts { calls, bytes, ..SizeCounts::ZERO };
            counts.buckets[bucket] = calls;
            counts
        };
        let sum = WriteCounts::sum([one(8, 3, 24), one(9, 1, 9), one(8, 1, 8)]);
        assert_eq!((sum.calls, sum.bytes, sum.mean()), (5, 41, Some(8.2)));
        let buckets: Vec<_> =
            sum.buckets().map(|bucket| (bucket.first, bucket.last, bucket.calls)).collect();
        assert_eq!(buckets, [(8, 8, 4), (9, 9, 1)]);
        assert_eq!(sum.median().map(|bucket| bucket.first), Some(8));
        let since = sum.since(&WriteCounts::sum([one(8, 4, 32)]));
        assert_eq!((since.calls, since.bytes, since.buckets().count()), (1, 9, 1));
        assert_eq!(WriteCounts::sum([]).median(), None);
    }
}
