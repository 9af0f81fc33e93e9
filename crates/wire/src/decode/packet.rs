//! From a packet to a segment.

use core::net::SocketAddr;

use super::{internet::internet, link::network, outcome::NotDecoded, tcp::TcpHeader};
use crate::{packet::Packet, segment::Segment};

/// The TCP segment in a packet.
pub fn decode<'a>(packet: &Packet<'a>) -> Result<Segment<'a>, NotDecoded> {
    let network = network(packet.link, packet.data)?;
    let header_bytes = packet.data.len() - network.len();
    let on_wire = (packet.length as usize).saturating_sub(header_bytes).max(network.len());
    let transport = internet(network, on_wire)?;
    let header = TcpHeader::parse(transport.captured, transport.length)?;
    let payload_length = transport.length.checked_sub(header.length);
    let payload_length = payload_length.ok_or(NotDecoded::Malformed)?;
    // Not all options may have been captured, and then nothing of the payload.
    let payload = transport.captured.get(header.length..).unwrap_or_default();
    Ok(Segment {
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
    })
}
