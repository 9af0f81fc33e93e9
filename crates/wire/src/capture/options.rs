//! Options of a pcapng block: code, length, value, padded to four bytes (draft-ietf-opsawg-pcapng, section 3.5).

use super::format::ByteOrder;

/// Options of one block. The iterator ends at the end-of-options mark, or at malformed bytes.
#[derive(Clone, Debug)]
pub(super) struct Options<'a> {
    bytes: &'a [u8],
    order: ByteOrder,
}

impl<'a> Options<'a> {
    pub(super) const fn new(bytes: &'a [u8], order: ByteOrder) -> Self {
        Self { bytes, order }
    }
}

impl<'a> Iterator for Options<'a> {
    type Item = (u16, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let (code, rest) = self.bytes.split_first_chunk()?;
        let (length, rest) = rest.split_first_chunk()?;
        let (code, length) = (self.order.u16(*code), usize::from(self.order.u16(*length)));
        let value = rest.get(..length)?;
        if code == 0 {
            return None;
        }
        self.bytes = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((code, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], expected: &[(u16, &[u8])]) {
        let options: Vec<(u16, &[u8])> = Options::new(bytes, ByteOrder::Big).collect();
        assert_eq!(options, expected);
    }

    #[test]
    fn options_end_where_they_say_or_where_the_block_ends() {
        check(b"\0\x09\0\x01\x06\0\0\0\0\x02\0\x04eth0\0\0\0\0\0\x09", &[(9, &[6]), (2, b"eth0")]);
        // The last option is not padded; the next one is longer than the block; there are no bytes.
        check(b"\0\x09\0\x01\x06", &[(9, &[6])]);
        check(b"\0\x09\0\x01\x06\0\0\0\0\x02\0\x09eth0", &[(9, &[6])]);
        check(b"", &[]);
    }
}
