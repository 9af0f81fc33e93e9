//! Records of a pcap file (draft-ietf-opsawg-pcap).

use std::io::Read;

use super::{
    format::ByteOrder,
    input::Input,
    link::link_type,
    record::{Fault, MAX_CAPTURED_BYTES, Record},
};
use crate::packet::{LinkType, Timestamp};

const FILE_HEADER_BYTES: usize = 24;
const RECORD_HEADER_BYTES: usize = 16;

/// Bits of the link type. The upper bits say whether frames have check sequences, which follow the IP packet.
const LINK_TYPE_BITS: u32 = 0x03ff_ffff;

const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// The header of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pcap {
    order: ByteOrder,
    fraction_nanos: u32,
    link: LinkType,
}

impl Pcap {
    /// Reads the header.
    pub(super) fn open(
        input: &mut Input<impl Read>,
        order: ByteOrder,
        fraction_nanos: u32,
    ) -> Result<Self, Fault> {
        if !input.ensure(FILE_HEADER_BYTES)? {
            return Err(Fault::CutShort);
        }
        let number = order.u32_at(input.bytes(), 20).unwrap_or_default() & LINK_TYPE_BITS;
        let link = link_type(number).ok_or(Fault::LinkType(number))?;
        input.consume(FILE_HEADER_BYTES);
        Ok(Self { order, fraction_nanos, link })
    }

    /// Reads the next packet; none at the end.
    pub(super) fn advance(self, input: &mut Input<impl Read>) -> Result<Option<Record>, Fault> {
        if !input.ensure(RECORD_HEADER_BYTES)? {
            return if input.bytes().is_empty() { Ok(None) } else { Err(Fault::CutShort) };
        }
        let field = |offset| self.order.u32_at(input.bytes(), offset).unwrap_or_default();
        let [seconds, fraction, captured, length] = [0, 4, 8, 12].map(field);
        if captured > MAX_CAPTURED_BYTES {
            return Err(Fault::Broken("a packet is said to have more than 262,144 bytes"));
        }
        let captured = captured as usize;
        if !input.ensure(RECORD_HEADER_BYTES + captured)? {
            return Err(Fault::CutShort);
        }
        input.consume(RECORD_HEADER_BYTES + captured);
        let nanos = u64::from(fraction) * u64::from(self.fraction_nanos);
        let time = Timestamp::from_unix_nanos(u64::from(seconds) * NANOS_PER_SECOND + nanos);
        let (link, interface) = (self.link, None);
        Ok(Some(Record { time, link, interface, length, captured, behind: 0 }))
    }
}
