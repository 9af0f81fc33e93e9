//! Blocks of a pcapng file (draft-ietf-opsawg-pcapng).

use std::io::Read;

use super::{
    format::ByteOrder,
    input::Input,
    interface::Interface,
    options::Options,
    record::{Fault, MAX_CAPTURED_BYTES, Record},
};

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
/// The predecessor of the enhanced packet block; libpcap and Wireshark still read it.
const OBSOLETE_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const INTERFACE_STATISTICS: u32 = 5;
const ENHANCED_PACKET: u32 = 6;

/// Type and length precede the body, and the length is repeated after it.
const HEAD_BYTES: usize = 8;
const TAIL_BYTES: usize = 4;

/// Maximum of bytes of a block that is read as a whole. It fits the largest packet with its options, including comments
/// of up to 65,535 bytes each. Irrelevant blocks may be longer; they are skipped.
const MAX_BLOCK_BYTES: u32 = MAX_CAPTURED_BYTES + 256 * 1024;

/// Maximum of interfaces that a section may have.
const MAX_INTERFACES: usize = 65_536;

/// A block at the front of the input. Its body follows its head.
#[derive(Clone, Copy, Debug)]
struct Block {
    kind: u32,
    /// Length including head and tail.
    length: usize,
}

/// A partly read file.
#[derive(Debug)]
pub(super) struct Pcapng {
    order: ByteOrder,
    interfaces: Vec<Interface>,
    /// Losses of the previous sections.
    drops: Option<u64>,
}

impl Pcapng {
    pub(super) const fn new() -> Self {
        Self { order: ByteOrder::Little, interfaces: Vec::new(), drops: None }
    }

    /// Returns the number of lost packets, according to the statistics read so far.
    pub(super) fn drops(&self) -> Option<u64> {
        let all = self.interfaces.iter().map(|interface| interface.drops).chain([self.drops]);
        all.flatten().reduce(u64::saturating_add)
    }

    /// Reads the next packet; none at the end.
    pub(super) fn advance(
        &mut self,
        input: &mut Input<impl Read>,
    ) -> Result<Option<Record>, Fault> {
        while let Some(block) = self.next_block(input)? {
            let body = &input.bytes()[HEAD_BYTES..block.length - TAIL_BYTES];
            let record = match block.kind {
                SECTION_HEADER => self.begin_section(body)?,
                INTERFACE_DESCRIPTION => self.add_interface(body)?,
                INTERFACE_STATISTICS => self.take_statistics(body),
                ENHANCED_PACKET => Some(self.packet(body, self.order.u32_at(body, 0))?),
                OBSOLETE_PACKET => Some(self.packet(body, self.obsolete_interface(body))?),
                _ => Some(self.simple_packet(body)?),
            };
            input.consume(block.length);
            if record.is_some() {
                return Ok(record);
            }
        }
        Ok(None)
    }

    /// Reads the next relevant block as a whole.
    fn next_block(&mut self, input: &mut Input<impl Read>) -> Result<Option<Block>, Fault> {
        loop {
            if !input.ensure(HEAD_BYTES)? {
                return if input.bytes().is_empty() { Ok(None) } else { Err(Fault::CutShort) };
            }
            let kind = self.order.u32_at(input.bytes(), 0).unwrap_or_default();
            if kind == SECTION_HEADER {
                self.order = section_order(input)?;
            }
            let length = self.order.u32_at(input.bytes(), 4).unwrap_or_default();
            if length < 12 || !length.is_multiple_of(4) {
                return Err(Fault::Broken("the length of a block is not valid"));
            }
            if !is_of_use(kind) {
                if !input.skip(u64::from(length))? {
                    return Err(Fault::CutShort);
                }
                continue;
            }
            return self.whole_block(input, kind, length).map(Some);
        }
    }

    fn whole_block(
        &self,
        input: &mut Input<impl Read>,
        kind: u32,
        length: u32,
    ) -> Result<Block, Fault> {
        if length > MAX_BLOCK_BYTES {
            return Err(Fault::Broken("a block is said to have more than 524,288 bytes"));
        }
        let block = Block { kind, length: length as usize };
        if !input.ensure(block.length)? {
            return Err(Fault::CutShort);
        }
        if self.order.u32_at(input.bytes(), block.length - TAIL_BYTES) != Some(length) {
            return Err(Fault::Broken("a block has different lengths at its start and end"));
        }
        Ok(block)
    }

    fn begin_section(&mut self, body: &[u8]) -> Result<Option<Record>, Fault> {
        let major = body.get(4..6).and_then(|bytes| bytes.first_chunk());
        if major.map(|major| self.order.u16(*major)) != Some(1) {
            return Err(Fault::Broken("a section has a version of pcapng other than 1"));
        }
        self.drops = self.drops();
        self.interfaces.clear();
        Ok(None)
    }

    fn add_interface(&mut self, body: &[u8]) -> Result<Option<Record>, Fault> {
        if self.interfaces.len() == MAX_INTERFACES {
            return Err(Fault::Broken("a section has more than 65,536 interfaces"));
        }
        self.interfaces.push(Interface::parse(body, self.order)?);
        Ok(None)
    }

    /// Takes the statistics of an interface. It ignores those of an interface that was not described.
    fn take_statistics(&mut self, body: &[u8]) -> Option<Record> {
        let number = self.order.u32_at(body, 0).unwrap_or(u32::MAX);
        let options = Options::new(body.get(12..).unwrap_or_default(), self.order);
        if let Some(interface) = self.interfaces.get_mut(number as usize) {
            interface.take_statistics(options, self.order);
        }
        None
    }

    /// Returns the interface of an obsolete block, which has its number in two bytes, followed by a count of losses.
    fn obsolete_interface(&self, body: &[u8]) -> Option<u32> {
        body.first_chunk().map(|number| u32::from(self.order.u16(*number)))
    }

    /// Reads an enhanced or obsolete packet block. They differ only in the number of the interface.
    fn packet(&self, body: &[u8], number: Option<u32>) -> Result<Record, Fault> {
        let interface = self.interface(number.unwrap_or(u32::MAX))?;
        let field = |offset| self.order.u32_at(body, offset).ok_or(TOO_SHORT);
        let units = u64::from(field(4)?) << 32 | u64::from(field(8)?);
        let (captured, length) = (field(12)?, field(16)?);
        let behind = behind(body, 20, captured)?;
        let (time, link) = (interface.time(units), interface.link()?);
        let captured = captured as usize;
        Ok(Record { time, link, interface: number, length, captured, behind })
    }

    /// Reads a simple packet block: of the first interface, without a time.
    fn simple_packet(&self, body: &[u8]) -> Result<Record, Fault> {
        let interface = self.interface(0)?;
        let length = self.order.u32_at(body, 0).ok_or(TOO_SHORT)?;
        let limit = if interface.snap_length == 0 { u32::MAX } else { interface.snap_length };
        let captured = length.min(limit);
        let behind = behind(body, 4, captured)?;
        let (time, link) = (interface.time(0), interface.link()?);
        Ok(Record { time, link, interface: Some(0), length, captured: captured as usize, behind })
    }

    fn interface(&self, number: u32) -> Result<&Interface, Fault> {
        let problem = "a packet belongs to an interface without a description";
        self.interfaces.get(number as usize).ok_or(Fault::Broken(problem))
    }
}

const TOO_SHORT: Fault = Fault::Broken("the block of a packet is too short");

/// Returns the bytes of the block after the packet's data, which begins at `start` of the body.
fn behind(body: &[u8], start: usize, captured: u32) -> Result<usize, Fault> {
    if captured > MAX_CAPTURED_BYTES {
        return Err(Fault::Broken("a packet is said to have more than 262,144 bytes"));
    }
    let behind = body.len().checked_sub(start + captured as usize);
    let behind = behind.ok_or(Fault::Broken("a packet is longer than its block"))?;
    Ok(behind + TAIL_BYTES)
}

const fn is_of_use(kind: u32) -> bool {
    matches!(
        kind,
        SECTION_HEADER
            | INTERFACE_DESCRIPTION
            | OBSOLETE_PACKET
            | SIMPLE_PACKET
            | INTERFACE_STATISTICS
            | ENHANCED_PACKET
    )
}

/// Returns the byte order of the section that begins at the front of the input.
fn section_order(input: &mut Input<impl Read>) -> Result<ByteOrder, Fault> {
    if !input.ensure(HEAD_BYTES + 4)? {
        return Err(Fault::CutShort);
    }
    match input.bytes()[HEAD_BYTES..HEAD_BYTES + 4] {
        [0x4d, 0x3c, 0x2b, 0x1a] => Ok(ByteOrder::Little),
        [0x1a, 0x2b, 0x3c, 0x4d] => Ok(ByteOrder::Big),
        _ => Err(Fault::Broken("a section has an unknown byte order")),
    }
}
