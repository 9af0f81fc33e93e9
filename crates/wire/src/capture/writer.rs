//! Writer of packets as pcapng (draft-ietf-opsawg-pcapng), in a form that Wireshark opens.

use std::io::{self, Write};

use super::{link, record::MAX_CAPTURED_BYTES};
use crate::packet::{LinkType, Packet, Timestamp};

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const INTERFACE_STATISTICS: u32 = 5;
const ENHANCED_PACKET: u32 = 6;

/// Codes of options: of any block, and of the block that begins the name.
const COMMENT: u16 = 1;
const SECTION_APPLICATION: u16 = 4;
const INTERFACE_NAME: u16 = 2;
const INTERFACE_RESOLUTION: u16 = 9;
const STATISTICS_RECEIVED: u16 = 4;
const STATISTICS_DROPS: u16 = 7;

/// Limit of an option's length, which has two bytes.
const MAX_OPTION_BYTES: usize = 65_535;

/// An interface of a [`PacketWriter`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterfaceId(u32);

/// Writes packets, their interfaces and their losses. Give it a buffered output.
#[derive(Debug)]
pub struct PacketWriter<W> {
    output: W,
    interfaces: u32,
    /// The block under construction.
    block: Vec<u8>,
}

impl<W: Write> PacketWriter<W> {
    /// Begins a file and states the application that writes it, such as `rabbitscope 0.1.0`.
    pub fn new(output: W, application: &str) -> io::Result<Self> {
        let mut writer = Self { output, interfaces: 0, block: Vec::new() };
        writer.number(0x1a2b_3c4d);
        // Version 1.0, in two numbers of two bytes; the section's length is not stated.
        writer.number(1);
        writer.block.extend([0xff; 8]);
        writer.option(SECTION_APPLICATION, application.as_bytes());
        writer.end_of_options();
        writer.write(SECTION_HEADER)?;
        Ok(writer)
    }

    /// Describes an interface. At most `snap_length` bytes of each packet were captured; 0 means no limit.
    pub fn interface(
        &mut self,
        link: LinkType,
        snap_length: u32,
        name: &str,
    ) -> io::Result<InterfaceId> {
        self.number(u32::from(link::number(link)));
        self.number(snap_length);
        self.option(INTERFACE_NAME, name.as_bytes());
        self.option(INTERFACE_RESOLUTION, &[9]);
        self.end_of_options();
        self.write(INTERFACE_DESCRIPTION)?;
        self.interfaces += 1;
        Ok(InterfaceId(self.interfaces - 1))
    }

    /// Writes a packet. Its number is not written: readers count packets in the order of the file. Data beyond
    /// [`MAX_CAPTURED_BYTES`], which no program reads, is cut off.
    pub fn packet(
        &mut self,
        interface: InterfaceId,
        packet: &Packet<'_>,
        comment: Option<&str>,
    ) -> io::Result<()> {
        let data = &packet.data[..packet.data.len().min(MAX_CAPTURED_BYTES as usize)];
        self.number(interface.0);
        self.time(packet.time);
        self.number(u32::try_from(data.len()).unwrap_or(MAX_CAPTURED_BYTES));
        self.number(packet.length);
        self.padded(data);
        if let Some(comment) = comment {
            self.option(COMMENT, comment_bytes(comment));
            self.end_of_options();
        }
        self.write(ENHANCED_PACKET)
    }

    /// Writes how many packets an interface had received at a time, and how many of them the system had dropped.
    pub fn statistics(
        &mut self,
        interface: InterfaceId,
        time: Timestamp,
        received: u64,
        drops: u64,
    ) -> io::Result<()> {
        self.number(interface.0);
        self.time(time);
        self.option(STATISTICS_RECEIVED, &received.to_le_bytes());
        self.option(STATISTICS_DROPS, &drops.to_le_bytes());
        self.end_of_options();
        self.write(INTERFACE_STATISTICS)
    }

    /// Flushes the buffer and returns the output.
    pub fn finish(mut self) -> io::Result<W> {
        self.output.flush()?;
        Ok(self.output)
    }

    fn number(&mut self, number: u32) {
        self.block.extend(number.to_le_bytes());
    }

    /// Writes a time in nanoseconds, the upper half first in either byte order.
    fn time(&mut self, time: Timestamp) {
        let nanos = time.unix_nanos();
        self.block.extend(((nanos >> 32) as u32).to_le_bytes());
        self.block.extend(nanos.to_le_bytes()[..4].iter());
    }

    fn padded(&mut self, bytes: &[u8]) {
        self.block.extend_from_slice(bytes);
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }

    fn option(&mut self, code: u16, value: &[u8]) {
        let value = &value[..value.len().min(MAX_OPTION_BYTES)];
        let length = u16::try_from(value.len()).unwrap_or(u16::MAX);
        self.block.extend(code.to_le_bytes());
        self.block.extend(length.to_le_bytes());
        self.padded(value);
    }

    fn end_of_options(&mut self) {
        self.block.extend([0; 4]);
    }

    /// Writes the finished block, with its type and length around it.
    fn write(&mut self, kind: u32) -> io::Result<()> {
        let length = u32::try_from(self.block.len() + 12).map_err(io::Error::other)?;
        self.number(length);
        self.output.write_all(&kind.to_le_bytes())?;
        self.output.write_all(&length.to_le_bytes())?;
        self.output.write_all(&self.block)?;
        self.block.clear();
        Ok(())
    }
}

/// Returns as much of a comment as fits into an option, in whole characters.
fn comment_bytes(comment: &str) -> &[u8] {
    let mut end = comment.len().min(MAX_OPTION_BYTES);
    while !comment.is_char_boundary(end) {
        end -= 1;
    }
    &comment.as_bytes()[..end]
}
