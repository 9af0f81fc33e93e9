//! The format of a capture file, from its first four bytes.

use super::error::CaptureError;

/// Byte order of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteOrder {
    /// Lowest first.
    Little,
    /// Highest first.
    Big,
}

impl ByteOrder {
    /// Reads a number of two bytes.
    pub(super) const fn u16(self, bytes: [u8; 2]) -> u16 {
        match self {
            Self::Little => u16::from_le_bytes(bytes),
            Self::Big => u16::from_be_bytes(bytes),
        }
    }

    /// Reads a number of four bytes.
    pub(super) const fn u32(self, bytes: [u8; 4]) -> u32 {
        match self {
            Self::Little => u32::from_le_bytes(bytes),
            Self::Big => u32::from_be_bytes(bytes),
        }
    }

    /// Reads a number of eight bytes.
    pub(super) const fn u64(self, bytes: [u8; 8]) -> u64 {
        match self {
            Self::Little => u64::from_le_bytes(bytes),
            Self::Big => u64::from_be_bytes(bytes),
        }
    }

    /// Reads the number of four bytes at `at`; none beyond the end.
    pub(super) fn u32_at(self, bytes: &[u8], at: usize) -> Option<u32> {
        Some(self.u32(*bytes.get(at..)?.first_chunk()?))
    }
}

/// A format of capture files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// libpcap's format (draft-ietf-opsawg-pcap).
    Pcap {
        /// Byte order of all numbers in the file.
        order: ByteOrder,
        /// Nanoseconds in one unit of the fractions of seconds: 1,000 or 1.
        fraction_nanos: u32,
    },
    /// Wireshark's format (draft-ietf-opsawg-pcapng).
    Pcapng,
}

impl Format {
    /// Returns the format of a file that begins with these bytes, of which there may be more than four.
    pub fn detect(first: &[u8]) -> Result<Self, CaptureError> {
        let pcap = |order, fraction_nanos| Ok(Self::Pcap { order, fraction_nanos });
        match first {
            [0xd4, 0xc3, 0xb2, 0xa1, ..] => pcap(ByteOrder::Little, 1000),
            [0xa1, 0xb2, 0xc3, 0xd4, ..] => pcap(ByteOrder::Big, 1000),
            [0x4d, 0x3c, 0xb2, 0xa1, ..] => pcap(ByteOrder::Little, 1),
            [0xa1, 0xb2, 0x3c, 0x4d, ..] => pcap(ByteOrder::Big, 1),
            // The section header's type reads the same in both byte orders.
            [0x0a, 0x0d, 0x0d, 0x0a, ..] => Ok(Self::Pcapng),
            [0x1f, 0x8b, ..] => Err(CaptureError::Compressed("gzip")),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Err(CaptureError::Compressed("zstd")),
            [0x04, 0x22, 0x4d, 0x18, ..] => Err(CaptureError::Compressed("lz4")),
            _ => Err(CaptureError::Foreign { first: first[..first.len().min(4)].to_vec() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(first: &[u8], expected: Result<Format, &str>) {
        let format = Format::detect(first).map_err(|error| error.to_string());
        match expected {
            Ok(expected) => assert_eq!(format, Ok(expected)),
            Err(part) => {
                assert!(format.as_ref().is_err_and(|error| error.contains(part)), "{format:?}");
            }
        }
    }

    #[test]
    fn first_bytes_decide() {
        let pcap = |order, fraction_nanos| Ok(Format::Pcap { order, fraction_nanos });
        check(b"\xd4\xc3\xb2\xa1\x02", pcap(ByteOrder::Little, 1000));
        check(b"\xa1\xb2\xc3\xd4", pcap(ByteOrder::Big, 1000));
        check(b"\x4d\x3c\xb2\xa1", pcap(ByteOrder::Little, 1));
        check(b"\xa1\xb2\x3c\x4d", pcap(ByteOrder::Big, 1));
        check(b"\n\r\r\n", Ok(Format::Pcapng));
        check(b"\x1f\x8b\x08\x00", Err("gzip"));
        check(b"AMQP\x00", Err("41 4d 51 50; supported are pcap and pcapng"));
        check(b"\xd4\xc3", Err("begins with the bytes d4 c3;"));
        check(b"", Err("not a capture file"));
    }
}
