//! Packets of a capture file of either format.

use std::io::Read;

use super::{
    error::CaptureError,
    format::Format,
    input::Input,
    pcap::Pcap,
    pcapng::Pcapng,
    record::{Fault, Record},
};
use crate::packet::Packet;

#[derive(Debug)]
enum Records {
    Pcap(Pcap),
    Pcapng(Pcapng),
}

/// Reads packets from a file, or from a pipe that a program writes one to. Memory stays below 2 MiB.
///
/// ```
/// # use rabbitscope_wire::capture::{CaptureError, PacketReader};
/// # fn show(file: impl std::io::Read) -> Result<(), CaptureError> {
/// let mut packets = PacketReader::new(file)?;
/// while let Some(packet) = packets.next()? {
///     let (number, length) = (packet.number, packet.length);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct PacketReader<R> {
    input: Input<R>,
    records: Records,
    packets: u64,
    is_over: bool,
}

impl<R: Read> PacketReader<R> {
    /// Reads the beginning of the file, which states its format.
    pub fn new(input: R) -> Result<Self, CaptureError> {
        let mut input = Input::new(input);
        let there = input.ensure(4);
        there.map_err(|error| Fault::from(error).at(0, 0, 0))?;
        let records = match Format::detect(input.bytes())? {
            Format::Pcapng => Ok(Records::Pcapng(Pcapng::new())),
            Format::Pcap { order, fraction_nanos } => {
                Pcap::open(&mut input, order, fraction_nanos).map(Records::Pcap)
            }
        };
        let records = records.map_err(|fault| fault.at(0, end(&input), 0))?;
        Ok(Self { input, records, packets: 0, is_over: false })
    }

    /// Returns the next packet; none at the end, and after an error.
    #[expect(
        clippy::should_implement_trait,
        reason = "a packet borrows the reader's buffer, which an `Iterator` cannot say"
    )]
    pub fn next(&mut self) -> Result<Option<Packet<'_>>, CaptureError> {
        self.next_on_interface().map(|found| found.map(|(packet, _)| packet))
    }

    /// Like [`Self::next`], and also returns the number of the interface that captured the packet, if the file states
    /// it.
    pub fn next_on_interface(&mut self) -> Result<Option<(Packet<'_>, Option<u32>)>, CaptureError> {
        if self.is_over {
            return Ok(None);
        }
        let offset = self.input.offset();
        match self.advance() {
            Ok(Some(record)) => Ok(Some((self.packet(record), record.interface))),
            Ok(None) => {
                self.is_over = true;
                Ok(None)
            }
            Err(fault) => {
                self.is_over = true;
                // Irrelevant blocks may have been skipped since.
                let offset = offset.max(self.input.offset());
                Err(fault.at(offset, end(&self.input), self.packets))
            }
        }
    }

    /// Returns the offset in the file after the last packet.
    pub fn offset(&self) -> u64 {
        self.input.offset()
    }

    /// Returns the number of packets that the capturing program reported as lost, up to here; none if the file does not
    /// state it.
    pub fn reported_drops(&self) -> Option<u64> {
        match &self.records {
            Records::Pcap(_) => None,
            Records::Pcapng(pcapng) => pcapng.drops(),
        }
    }

    fn advance(&mut self) -> Result<Option<Record>, Fault> {
        match &mut self.records {
            Records::Pcap(pcap) => pcap.advance(&mut self.input),
            Records::Pcapng(pcapng) => pcapng.advance(&mut self.input),
        }
    }

    fn packet(&mut self, record: Record) -> Packet<'_> {
        self.packets += 1;
        let data = &self.input.used(record.captured + record.behind)[..record.captured];
        // Some programs write a length of 0, or one from before a tag was added.
        let length = record.length.max(u32::try_from(data.len()).unwrap_or(u32::MAX));
        Packet { number: self.packets, time: record.time, link: record.link, length, data }
    }
}

/// Returns the number of bytes of the input that were read.
fn end<R: Read>(input: &Input<R>) -> u64 {
    input.offset() + input.bytes().len() as u64
}
