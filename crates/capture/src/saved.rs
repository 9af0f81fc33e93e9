//! Packets that are written to a new file: without credentials, and without bodies unless they are requested.
//!
//! The packets behind a finding are known only at the end. Packets are therefore written twice: first to a nameless
//! file as they arrive, and at the end from there to their place, with comments.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{BufReader, BufWriter, Seek, Write},
    path::Path,
};

use anyhow::Context;
use rabbitscope_files::{AtomicFile, Directory};
use rabbitscope_wire::{
    capture::{InterfaceId, PacketReader, PacketWriter},
    packet::{LinkType, Packet},
    report::{Finding, PacketReport},
};

/// Name of the writing application, for readers of the file.
const APPLICATION: &str = concat!("rabbitscope ", env!("CARGO_PKG_VERSION"));

/// Limit of kept packet bytes. The disk may be the broker's, and a full disk stops publishers.
const MAX_SAVED_BYTES: u64 = 1 << 30;

/// Packets that wait for their comments.
pub struct SavedPackets {
    writer: PacketWriter<BufWriter<File>>,
    interfaces: Vec<(LinkType, InterfaceId)>,
    /// Capture numbers of the written packets, in order.
    numbers: Vec<u64>,
    bytes: u64,
    /// The reason for keeping no more packets.
    ended: Option<String>,
}

impl SavedPackets {
    /// Creates the file in the directory of `place`, because that disk must hold the packets anyway.
    pub fn beside(place: &Path) -> anyhow::Result<Self> {
        let (directory, _) = Directory::of_file(place)?;
        let file = directory
            .unnamed_file()
            .with_context(|| format!("cannot write packets to {}", directory.path().display()))?;
        let writer = PacketWriter::new(BufWriter::new(file), APPLICATION)?;
        Ok(Self { writer, interfaces: Vec::new(), numbers: Vec::new(), bytes: 0, ended: None })
    }

    /// Adds the permitted part of the next packet. A failure to keep it does not end the capture.
    pub fn add(&mut self, packet: &Packet<'_>) {
        if self.ended.is_some() {
            return;
        }
        if self.bytes >= MAX_SAVED_BYTES {
            let kept = self.numbers.len();
            self.ended = Some(format!("only the first 1 GiB of packets is kept: {kept}"));
        } else if let Err(error) = self.write(packet) {
            self.ended = Some(format!("packets are no longer kept: {error:#}"));
        }
    }

    /// Returns the reason why not all packets are kept.
    pub fn ended(&self) -> Option<&str> {
        self.ended.as_deref()
    }

    fn write(&mut self, packet: &Packet<'_>) -> anyhow::Result<()> {
        let known = self.interfaces.iter().find(|(link, _)| *link == packet.link);
        let interface = if let Some((_, interface)) = known {
            *interface
        } else {
            let interface = describe(&mut self.writer, packet.link)?;
            self.interfaces.push((packet.link, interface));
            interface
        };
        self.writer.packet(interface, packet, None).context("cannot write a packet")?;
        self.numbers.push(packet.number);
        self.bytes += packet.data.len() as u64;
        Ok(())
    }

    /// Writes the packets to their place, with the comments from `report`.
    pub fn finish(self, place: &Path, report: &PacketReport) -> anyhow::Result<()> {
        let Self { writer, numbers, .. } = self;
        let buffered = writer.finish().context("cannot write packets")?;
        let mut file = buffered.into_inner().map_err(std::io::IntoInnerError::into_error)?;
        file.rewind()?;
        let mut target = AtomicFile::create(place)?;
        copy(BufReader::new(file), target.writer(), &numbers, &comments(&report.findings))
            .with_context(|| format!("cannot write {}", place.display()))?;
        Ok(target.commit()?)
    }
}

fn describe<W: Write>(
    writer: &mut PacketWriter<W>,
    link: LinkType,
) -> std::io::Result<InterfaceId> {
    writer.interface(link, 0, "captured")
}

/// Returns the comments on packets, by number in the capture.
fn comments(findings: &[Finding]) -> BTreeMap<u64, String> {
    let mut comments: BTreeMap<u64, String> = BTreeMap::new();
    for finding in findings {
        for packet in &finding.packets {
            let comment = comments.entry(*packet).or_default();
            if !comment.is_empty() {
                comment.push_str("; ");
            }
            comment.push_str(&finding.sentence);
        }
    }
    comments
}

/// Copies the packets with their comments. Numbers in the file start at 1 again, so each comment names the number in
/// the report.
fn copy(
    from: BufReader<File>,
    to: &mut impl Write,
    numbers: &[u64],
    comments: &BTreeMap<u64, String>,
) -> anyhow::Result<()> {
    let mut reader = PacketReader::new(from)?;
    let mut writer = PacketWriter::new(to, APPLICATION)?;
    let mut interfaces: Vec<(LinkType, InterfaceId)> = Vec::new();
    for number in numbers {
        let Some(packet) = reader.next()? else { break };
        let known = interfaces.iter().find(|(link, _)| *link == packet.link).map(|(_, id)| *id);
        let interface = match known {
            Some(interface) => interface,
            None => describe(&mut writer, packet.link)?,
        };
        if known.is_none() {
            interfaces.push((packet.link, interface));
        }
        let comment =
            comments.get(number).map(|text| format!("{text} (packet {number} of the capture)"));
        writer.packet(interface, &packet, comment.as_deref())?;
    }
    writer.finish()?;
    Ok(())
}
