//! The first bytes of a body: which run, when, by whom, which of them.

/// Bytes of a stamp. Smaller bodies carry none, and no end-to-end latency is measured.
pub(crate) const SIZE: usize = 12;

/// A byte array of [`SIZE`] bytes under [`rabbitscope_data::scenario::STAMP_HEADER`], but for the
/// bytes themselves, as in a table on the wire.
const HEADER_FIELD: &[u8] = b"\x11rabbitscope-stampx\x00\x00\x00\x0c";

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

    /// From the header that carries it where the body must stay as it is. The broker passes
    /// properties on as they came, so that looking for the bytes is enough.
    pub(crate) fn find(properties: &[u8]) -> Option<Self> {
        let field = HEADER_FIELD;
        let at = properties.windows(field.len()).position(|window| window == field)?;
        Self::decode(properties.get(at + field.len()..)?)
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
    use rabbitscope_data::scenario::STAMP_HEADER;

    use super::*;

    #[test]
    fn stamps_are_found_in_headers() {
        assert_eq!(usize::from(HEADER_FIELD[0]), STAMP_HEADER.len());
        assert_eq!(&HEADER_FIELD[1..=STAMP_HEADER.len()], STAMP_HEADER.as_bytes());
        let size = HEADER_FIELD.last_chunk().copied().map(u32::from_be_bytes);
        assert_eq!(size.map(|size| size as usize), Some(SIZE));
        let stamp = Stamp { mark: 7, nanos: 99, publisher: 1, sequence: 2 };
        let properties = [b"before", HEADER_FIELD, &stamp.encode(), b"after"].concat();
        assert_eq!(Stamp::find(&properties), Some(stamp));
        assert_eq!(Stamp::find(&properties[..properties.len() - 6]), None);
        assert_eq!(Stamp::find(b""), None);
    }

    #[test]
    fn stamps_read_back() {
        let stamp = Stamp { mark: 0xabcd, nanos: 0x1234_5678_9abc, publisher: 7, sequence: 65_535 };
        assert_eq!(Stamp::decode(&stamp.encode()), Some(stamp));
        assert_eq!(Stamp::decode(&stamp.encode()[..11]), None);
    }
}
