//! The entry point of the analysis: packets in, a report out.

use core::{net::SocketAddr, ops::Range};
use std::collections::BTreeMap;

use super::{observation::Observation, options::AnalyzerOptions, sizes::Sizes, whole};
use crate::{
    activity::{ActivityListener, NoListener},
    decode::{DecodeCounts, Decoded, NotDecoded, decode_inner},
    packet::{LinkType, Packet},
    report::{CaptureReport, PacketReport},
    tcp::{Connections, Limits},
};

/// Maximum of simultaneous connections. Each takes some 15 KiB.
const MAX_CONNECTIONS: usize = 16_384;

/// Reads packets and builds a report. Two limits bound its memory: the number of simultaneous connections, and the
/// waiting data that [`Limits`] allows.
#[derive(Debug)]
pub struct Analyzer<L = NoListener> {
    connections: Connections,
    observation: Observation<L>,
    sizes: Sizes,
    counts: DecodeCounts,
    capture: CaptureReport,
    tunnels: BTreeMap<&'static str, u64>,
}

impl Analyzer {
    /// Creates an analyzer that has read no packet.
    pub fn new(options: AnalyzerOptions) -> Self {
        Self::with_listener(options, NoListener)
    }
}

impl<L: ActivityListener> Analyzer<L> {
    /// Creates an analyzer that also reports the activity of clients.
    pub fn with_listener(options: AnalyzerOptions, listener: L) -> Self {
        let limits = Limits { connections: MAX_CONNECTIONS, ..Limits::default() };
        Self {
            connections: Connections::new(limits),
            observation: Observation::new(options, listener),
            sizes: Sizes::default(),
            counts: DecodeCounts::default(),
            capture: CaptureReport::default(),
            tunnels: BTreeMap::new(),
        }
    }

    /// Processes the next packet of the capture.
    pub fn packet(&mut self, packet: &Packet<'_>) {
        self.decoded(packet, &decode_inner(packet));
    }

    /// Like [`Self::packet`], for a packet that is already decoded.
    pub fn decoded(&mut self, packet: &Packet<'_>, decoded: &Result<Decoded<'_>, NotDecoded>) {
        self.read(packet, decoded);
    }

    /// Like [`Self::decoded`], and also copies the packet into `out`, with zeros over everything that
    /// [`AnalyzerOptions::written`] excludes. Returns false for packets that are not analyzed.
    pub fn decoded_to_write(
        &mut self,
        packet: &Packet<'_>,
        decoded: &Result<Decoded<'_>, NotDecoded>,
        out: &mut Vec<u8>,
    ) -> bool {
        let Some(payload) = self.read(packet, decoded) else { return false };
        let Some(redaction) = &self.observation.redaction else { return false };
        out.clear();
        out.extend_from_slice(packet.data);
        redaction.apply(&mut out[payload]);
        true
    }

    /// Processes a packet. Returns the range of its payload, or none if it is not analyzed.
    fn read(
        &mut self,
        packet: &Packet<'_>,
        decoded: &Result<Decoded<'_>, NotDecoded>,
    ) -> Option<Range<usize>> {
        self.capture.packets += 1;
        let length = on_ethernet(packet);
        self.capture.bytes += u64::from(length);
        self.capture.cut += u64::from((packet.data.len() as u64) < u64::from(packet.length));
        let Decoded { segment, tunnel, .. } =
            self.counts.count(decoded.as_ref().map_err(|reason| *reason))?;
        if let Some(tunnel) = tunnel {
            *self.tunnels.entry(tunnel).or_default() += 1;
        }
        if !self.observation.options.has_port(segment.from.port(), segment.to.port()) {
            self.capture.left_out.other_ports += 1;
            return None;
        }
        self.sizes.add(length);
        self.observation.begin(segment);
        self.connections.segment(segment, &mut self.observation);
        // A payload is a part of the packet's bytes, but an empty one need not be.
        let start = if segment.payload.is_empty() {
            0
        } else {
            segment.payload.as_ptr().addr() - packet.data.as_ptr().addr()
        };
        Some(start..start + segment.payload.len())
    }

    /// Sets the number of bits by which the windows are shifted that `from` announces to `to`. Use it if the kernel
    /// knows the number and the connection's beginning was not captured.
    pub fn set_window_scale(&mut self, from: SocketAddr, to: SocketAddr, shift: u8) {
        self.connections.set_window_scale(from, to, shift);
    }

    /// Counts a packet that was captured before and is not read again.
    pub fn count_repeated(&mut self) {
        self.capture.packets += 1;
        self.capture.left_out.repeated += 1;
    }

    /// Sets the number of packets that were lost before they could be read.
    pub fn set_dropped(&mut self, packets: Option<u64>) {
        self.capture.dropped = packets;
    }

    /// Records that the capture cannot be read any further.
    pub fn set_damaged(&mut self, what: String) {
        self.capture.damaged = Some(what);
    }

    /// Returns every single latency.
    #[cfg(test)]
    pub(super) fn into_measured(mut self) -> Vec<crate::exchanges::Latency> {
        self.connections.finish(&mut self.observation);
        self.observation.measured
    }

    /// Returns the report. You may add figures from other sources and judge its findings again
    /// ([`crate::findings::judge`]).
    pub fn finish(self) -> PacketReport {
        self.finish_listening().0
    }

    /// Like [`Self::finish`], with the listener.
    pub fn finish_listening(mut self) -> (PacketReport, L) {
        self.connections.finish(&mut self.observation);
        self.observation.finish();
        let counts = self.connections.counts();
        let tunnels = self.tunnels.iter().map(|(name, count)| ((*name).to_owned(), *count));
        self.capture.tunnels = tunnels.collect();
        let left_out = &mut self.capture.left_out;
        left_out.not_tcp = self.counts.not_tcp + self.counts.not_ip;
        left_out.fragments = self.counts.fragments;
        left_out.malformed = self.counts.malformed;
        left_out.truncated = self.counts.truncated;
        left_out.forgotten_connections = counts.evicted;
        whole::report(self.observation, self.capture, self.sizes.report(), counts.seen)
    }
}

/// Returns the length of the packet with an Ethernet header, instead of the link's own header. So the same packet has
/// the same length live and in every kind of file. A loopback counts as Ethernet.
fn on_ethernet(packet: &Packet<'_>) -> u32 {
    const ETHERNET: u32 = 14;
    let header = match packet.link {
        LinkType::Ethernet => return packet.length,
        LinkType::Raw => 0,
        LinkType::Null | LinkType::Loop => 4,
        LinkType::LinuxSll => 16,
        LinkType::LinuxSll2 => 20,
    };
    packet.length.saturating_add(ETHERNET).saturating_sub(header)
}
