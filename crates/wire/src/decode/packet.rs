//! Decoding of a packet to its segment.

use core::net::SocketAddr;

use super::{
    internet::{TCP, Transport, internet},
    link::{Network, ethernet, network},
    outcome::NotDecoded,
    tcp::TcpHeader,
    tunnels::inner,
};
use crate::{packet::Packet, segment::Segment};

/// Limit on nested packets; more are hostile.
const MAX_TUNNELS: usize = 4;

/// Returns the TCP segment in a packet.
pub fn decode<'a>(packet: &Packet<'a>) -> Result<Segment<'a>, NotDecoded> {
    decode_inner(packet).map(|decoded| decoded.segment)
}

/// A segment with facts about its packet.
#[derive(Clone, Copy, Debug)]
pub struct Decoded<'a> {
    /// The segment.
    pub segment: Segment<'a>,
    /// The tunnel that carried its packet in another one, if any.
    pub tunnel: Option<&'static str>,
    /// The identification that the sender gave the packet (IPv4); 0 without one.
    pub identification: u16,
    /// TCP's header, as far as it was captured.
    pub header: &'a [u8],
}

/// Decodes like [`decode`], and also returns the tunnel, identification and header.
pub fn decode_inner<'a>(packet: &Packet<'a>) -> Result<Decoded<'a>, NotDecoded> {
    let (transport, tunnel) = transport(packet)?;
    let header = TcpHeader::parse(transport.captured, transport.length)?;
    let payload_length = transport.length.checked_sub(header.length);
    let payload_length = payload_length.ok_or(NotDecoded::Malformed)?;
    // If options were cut off, nothing of the payload was captured.
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
    let header = &transport.captured[..header.length.min(transport.captured.len())];
    Ok(Decoded { segment, tunnel, identification: transport.identification, header })
}

/// Returns the TCP payload of the innermost packet, and the tunnel of the outermost one.
fn transport<'a>(packet: &Packet<'a>) -> Result<(Transport<'a>, Option<&'static str>), NotDecoded> {
    let Network { mut tunnel, mut data } = network(packet.link, packet.data)?;
    for _ in 0..=MAX_TUNNELS {
        let header_bytes = packet.data.len() - data.len();
        let on_wire = (packet.length as usize).saturating_sub(header_bytes).max(data.len());
        let transport = internet(data, on_wire)?;
        if transport.protocol == TCP {
            return Ok((transport, tunnel));
        }
        let carried = inner(transport.protocol, transport.captured)?;
        tunnel.get_or_insert(carried.tunnel);
        data = if carried.is_ethernet { ethernet(carried.data)?.data } else { carried.data };
    }
    Err(NotDecoded::Malformed)
}
