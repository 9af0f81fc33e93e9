//! The first bytes of a body: which run, when, by whom, which of them.

/// Bytes of a stamp. Smaller bodies carry none, and no end-to-end latency is measured.
pub(crate) const SIZE: usize = 12;

const TIME_BITS: u32 = 48;

/// Marks a message as sent by this run, so that those of other runs are not measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// Of the run.
    pub(crate) mark: u16,
    /// Nanoseconds since the run began; wraps after 78 hours.
    pub(crate) nanos: u64,
    /// Number of the publisher, modulo 65,536.
    pub(crate) publisher: u16,
    /// Sequence number of the message with its publisher, modulo 65,536.
    pub(crate) sequence: u16,
}

impl Stamp {
    pub(crate) fn encode(self) -> [u8; SIZE] {
        let time = u64::from(self.mark) << TIME_BITS | self.nanos & ((1 << TIME_BITS) - 1);
        let mut bytes = [0; SIZE];
        bytes[..8].copy_from_slice(&time.to_be_bytes());
        bytes[8..10].copy_from_slice(&self.publisher.to_be_bytes());
        bytes[10..].copy_from_slice(&self.sequence.to_be_bytes());
        bytes
    }

    pub(crate) fn decode(body: &[u8]) -> Option<Self> {
        let [t0, t1, t2, t3, t4, t5, t6, t7, p0, p1, s0, s1] = *body.first_chunk::<SIZE>()?;
        let time = u64::from_be_bytes([t0, t1, t2, t3, t4, t5, t6, t7]);
        Some(Self {
            mark: u16::from_be_bytes([t0, t1]),
            nanos: time & ((1 << TIME_BITS) - 1),
            publisher: u16::from_be_bytes([p0, p1]),
            sequence: u16::from_be_bytes([s0, s1]),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_read_back() {
        let stamp = Stamp { mark: 0xabcd, nanos: 0x1234_5678_9abc, publisher: 7, sequence: 65_535 };
        assert_eq!(Stamp::decode(&stamp.encode()), Some(stamp));
        assert_eq!(Stamp::decode(&stamp.encode()[..11]), None);
    }
}
