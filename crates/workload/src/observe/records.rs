//! Records of TLS that a client sent. Their sizes and times are those of its writes.

use crate::figures::{Buckets, CountsOverTime, Values};

/// Records with data of the application.
#[derive(Clone, Debug, Default)]
pub(crate) struct Records {
    pub(crate) count: u64,
    /// Bytes of their encrypted content.
    pub(crate) bytes: u64,
    pub(crate) sizes: Values<u64>,
    pub(crate) gaps: Buckets,
    pub(crate) counts: CountsOverTime,
    last: u64,
}

impl Records {
    pub(super) fn add(&mut self, now: u64, bytes: u64) {
        if self.count > 0 {
            self.gaps.add(now.saturating_sub(self.last));
        }
        self.count += 1;
        self.bytes += bytes;
        self.sizes.add(bytes);
        self.counts.add(now);
        self.last = self.last.max(now);
    }
}
