//! Properties of an interface in a pcapng file: link type, snap length, clock, losses.

use super::{format::ByteOrder, link::link_type, options::Options, record::Fault};
use crate::packet::{LinkType, Timestamp};

const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// Options of an interface description block (section 4.2).
const RESOLUTION: u16 = 9;
const CLOCK_OFFSET: u16 = 14;

/// Options of an interface statistics block (section 4.6).
const INTERFACE_DROPS: u16 = 5;
const SYSTEM_DROPS: u16 = 7;

/// Units of a clock per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Resolution {
    PowerOfTen(u8),
    PowerOfTwo(u8),
}

/// An interface of a section.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interface {
    link: Result<LinkType, u32>,
    /// Maximum of bytes captured of a packet; 0 means no limit.
    pub(super) snap_length: u32,
    resolution: Resolution,
    offset_seconds: i64,
    /// Number of lost packets, according to its latest statistics.
    pub(super) drops: Option<u64>,
}

impl Interface {
    /// Parses the body of an interface description block.
    pub(super) fn parse(body: &[u8], order: ByteOrder) -> Result<Self, Fault> {
        let (Some(link), Some(snap_length)) = (body.first_chunk(), order.u32_at(body, 4)) else {
            return Err(Fault::Broken("the description of an interface is too short"));
        };
        let number = u32::from(order.u16(*link));
        let mut interface = Self {
            link: link_type(number).ok_or(number),
            snap_length,
            resolution: Resolution::PowerOfTen(6),
            offset_seconds: 0,
            drops: None,
        };
        for (code, value) in Options::new(&body[8..], order) {
            interface.set(code, value, order);
        }
        Ok(interface)
    }

    fn set(&mut self, code: u16, value: &[u8], order: ByteOrder) {
        match (code, value) {
            (RESOLUTION, [exponent, ..]) => {
                self.resolution = match exponent & 0x7f {
                    exponent_of_two if exponent & 0x80 != 0 => {
                        Resolution::PowerOfTwo(exponent_of_two)
                    }
                    exponent_of_ten => Resolution::PowerOfTen(exponent_of_ten),
                }
            }
            (CLOCK_OFFSET, value) => {
                if let Some(seconds) = value.first_chunk() {
                    self.offset_seconds = order.u64(*seconds).cast_signed();
                }
            }
            _ => {}
        }
    }

    /// Returns the link type of its packets.
    pub(super) fn link(&self) -> Result<LinkType, Fault> {
        self.link.map_err(Fault::LinkType)
    }

    /// Returns the time of `units` on its clock.
    pub(super) fn time(&self, units: u64) -> Timestamp {
        let nanos = match self.resolution {
            Resolution::PowerOfTen(exponent @ 0..=9) => {
                u128::from(units) * 10_u128.pow(u32::from(9 - exponent))
            }
            // At 10^20 units per second, a 64-bit number of them cannot even count one second.
            Resolution::PowerOfTen(exponent) => {
                u128::from(units) / 10_u128.pow(u32::from(exponent.min(38) - 9))
            }
            Resolution::PowerOfTwo(exponent) => {
                (u128::from(units) * u128::from(NANOS_PER_SECOND)) >> exponent
            }
        };
        let offset = i128::from(self.offset_seconds) * i128::from(NANOS_PER_SECOND);
        let nanos = i128::try_from(nanos).unwrap_or(i128::MAX).saturating_add(offset);
        Timestamp::from_unix_nanos(u64::try_from(nanos.max(0)).unwrap_or(u64::MAX))
    }

    /// Updates the losses from the options of an interface statistics block.
    pub(super) fn take_statistics(&mut self, options: Options<'_>, order: ByteOrder) {
        let lost = options
            .filter(|(code, _)| [INTERFACE_DROPS, SYSTEM_DROPS].contains(code))
            .filter_map(|(_, value)| value.first_chunk().map(|count| order.u64(*count)))
            .reduce(u64::saturating_add);
        // Each block counts from the beginning of the capture.
        self.drops = lost.or(self.drops);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks a clock with `resolution` and `offset`, as in an interface description in big-endian order.
    #[track_caller]
    fn check(resolution: u8, offset: i64, units: u64, expected_nanos: u64) {
        let mut body = vec![0, 1, 0, 0, 0, 0, 0, 0, 0, 9, 0, 1, resolution, 0, 0, 0, 0, 14, 0, 8];
        body.extend(offset.to_be_bytes());
        let interface = Interface::parse(&body, ByteOrder::Big).unwrap();
        assert_eq!(interface.time(units).unix_nanos(), expected_nanos);
    }

    #[test]
    fn clocks_of_every_resolution() {
        check(6, 0, 1_700_000_000_123_456, 1_700_000_000_123_456_000);
        check(9, 0, 1_700_000_000_123_456_789, 1_700_000_000_123_456_789);
        check(0, 0, 17, 17_000_000_000);
        check(12, 0, 17_000_000_000_999, 17_000_000_000);
        check(0x8a, 0, 1536, 1_500_000_000);
        check(0xa0, 0, 3 << 31, 1_500_000_000);
        check(6, -1, 1_500_000, 500_000_000);
        check(6, 3, 1_500_000, 4_500_000_000);
        // Nonsense stays within bounds.
        check(127, 0, u64::MAX, 0);
        check(0xff, 0, u64::MAX, 0);
        check(0, 0, u64::MAX, u64::MAX);
        check(6, i64::MIN, 1, 0);
        check(0, i64::MAX, u64::MAX, u64::MAX);
    }

    #[test]
    fn losses_are_those_of_the_last_statistics() {
        let mut interface = Interface::parse(&[0; 8], ByteOrder::Little).unwrap();
        let mut statistics = |bytes: &[u8]| {
            interface.take_statistics(Options::new(bytes, ByteOrder::Little), ByteOrder::Little);
            interface.drops
        };
        assert_eq!(statistics(&[]), None);
        assert_eq!(statistics(b"\x05\0\x08\0\x03\0\0\0\0\0\0\0"), Some(3));
        let both = b"\x05\0\x08\0\x04\0\0\0\0\0\0\0\x07\0\x08\0\x02\0\0\0\0\0\0\0";
        assert_eq!(statistics(both), Some(6));
        assert_eq!(statistics(&[]), Some(6));
    }
}
