//! From a packet to a segment.

use core::{hash::Hasher, net::SocketAddr};

use rustc_hash::FxHasher;

use super::{
    internet::{TCP, Transport, internet},
    link::{ethernet, network},
    outcome::NotDecoded,
    tcp::TcpHeader,
    tunnels::inner,
};
use crate::{packet::Packet, segment::Segment};

/// Packets in packets that are read; more are hostile.
const MAX_TUNNELS: usize = 4;
/// What of TCP's header tells packets apart.
const HEADER_MAX: usize = 60;
/// Where TCP's checksum stands. What a network card computes differs between interfaces.
const CHECKSUM: core::ops::Range<usize> = 16..18;

/// The TCP segment in a packet.
pub fn decode<'a>(packet: &Packet<'a>) -> Result<Segment<'a>, NotDecoded> {
    decode_inner(packet).map(|decoded| decoded.segment)
}

/// A segment, and how its packet came.
#[derive(Clone, Copy, Debug)]
pub struct Decoded<'a> {
    /// The segment.
    pub segment: Segment<'a>,
    /// What carried its packet in another one; none where nothing did.
    pub tunnel: Option<&'static str>,
    /// The number that its sender gave the packet (IPv4); 0 without one.
    pub identification: u16,
    /// Tells its header from those of other segments.
    pub header_hash: u64,
}

/// As [`decode`], and says how the packet came.
pub fn decode_inner<'a>(packet: &Packet<'a>) -> Result<Decoded<'a>, NotDecoded> {
    let (transport, tunnel) = transport(packet)?;
    let header = TcpHeader::parse(transport.captured, transport.length)?;
    let payload_length = transport.length.checked_sub(header.length);
    let payload_length = payload_length.ok_or(NotDecoded::Malformed)?;
    // Not all options may have been captured, and then nothing of the payload.
    let payload = transport.captured.get(header.length..).unwrap_or_default();
    let segment = Segment {
        packet: packet.number,
        time: packet.time,
        packet_length: packet.length,
        from: SocketAddr::new(transport.source, header.source_port),
        to: SocketAddr::new(transport.destination, header.destination_port),
        sequence: header.sequence,
        acknowledgement: header.acknowledgement,
        flags: header.flags,
        window: header.window,
        options: header.options,
        payload_length: u32::try_from(payload_length).map_err(|_| NotDecoded::Malformed)?,
        payload,
    };
    let captured_header = &transport.captured[..header.length.min(transport.captured.len())];
    let header_hash = hash(captured_header, payload_length);
    Ok(Decoded { segment, tunnel, identification: transport.identification, header_hash })
}

/// What TCP sent, in however many packets, and what carried the outermost of them.
fn transport<'a>(packet: &Packet<'a>) -> Result<(Transport<'a>, Option<&'static str>), NotDecoded> {
    let mut data = network(packet.link, packet.data)?;
    let mut tunnel = None;
    for _ in 0..=MAX_TUNNELS {
        let header_bytes = packet.data.len() - data.len();
        let on_wire = (packet.length as usize).saturating_sub(header_bytes).max(data.len());
        let transport = internet(data, on_wire)?;
        if transport.protocol == TCP {
            return Ok((transport, tunnel));
        }
        let carried = inner(transport.protocol, transport.captured)?;
        tunnel.get_or_insert(carried.tunnel);
        data = if carried.is_ethernet { ethernet(carried.data)? } else { carried.data };
    }
    Err(NotDecoded::Malformed)
}

fn hash(header: &[u8], payload_length: usize) -> u64 {
    let mut hasher = FxHasher::default();
    let header = &header[..header.len().min(HEADER_MAX)];
    hasher.write(header.get(..CHECKSUM.start).unwrap_or_default());
    hasher.write(header.get(CHECKSUM.end..).unwrap_or_default());
    hasher.write_usize(payload_length);
    hasher.finish()
}
