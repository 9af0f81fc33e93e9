//! IPv4 and IPv6 headers: addresses, and the bounds of the TCP segment.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{
    outcome::NotDecoded,
    tunnels::{UDP, may_carry},
};

pub(super) const TCP: u8 = 6;

const IPV4_HEADER_BYTES: usize = 20;
const IPV6_HEADER_BYTES: usize = 40;

/// Limit on extension headers; no real packet needs more.
const MAX_EXTENSIONS: usize = 8;

/// The payload of an IP packet, if it is TCP or may be a tunnel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transport<'a> {
    pub(super) protocol: u8,
    /// Identification of the packet (IPv4); 0 if the sender gives none.
    pub(super) identification: u16,
    pub(super) source: IpAddr,
    pub(super) destination: IpAddr,
    /// Bytes on the wire, without the link's padding.
    pub(super) length: usize,
    /// Captured part of these bytes.
    pub(super) captured: &'a [u8],
}

/// Reads the IP header of a packet of `on_wire` bytes, counted from that header.
pub(super) fn internet(data: &[u8], on_wire: usize) -> Result<Transport<'_>, NotDecoded> {
    match data.first().ok_or(NotDecoded::Truncated)? >> 4 {
        4 => ipv4(data, on_wire),
        6 => ipv6(data, on_wire),
        _ => Err(NotDecoded::NotIp),
    }
}

/// Reads an IPv4 header (RFC 791).
fn ipv4(data: &[u8], on_wire: usize) -> Result<Transport<'_>, NotDecoded> {
    let header: &[u8; IPV4_HEADER_BYTES] = data.first_chunk().ok_or(NotDecoded::Truncated)?;
    let protocol = header[9];
    if !is_read(protocol) {
        return Err(NotDecoded::NotTcp);
    }
    // The flag "more fragments", and the offset of this fragment.
    if u16::from_be_bytes([header[6], header[7]]) & 0x3fff != 0 {
        return Err(if protocol == UDP { NotDecoded::NotTcp } else { NotDecoded::Fragment });
    }
    let header_bytes = usize::from(header[0] & 0x0f) * 4;
    // A host may state no length if its network card does the segmentation, or if none is done, as on a loopback.
    let total = match u16::from_be_bytes([header[2], header[3]]) {
        0 => on_wire,
        stated => usize::from(stated),
    };
    if header_bytes < IPV4_HEADER_BYTES || total < header_bytes {
        return Err(NotDecoded::Malformed);
    }
    let address = |at: usize| [header[at], header[at + 1], header[at + 2], header[at + 3]];
    Ok(Transport {
        protocol,
        identification: u16::from_be_bytes([header[4], header[5]]),
        source: Ipv4Addr::from(address(12)).into(),
        destination: Ipv4Addr::from(address(16)).into(),
        length: total - header_bytes,
        captured: captured(data, header_bytes, total),
    })
}

/// Reads an IPv6 header (RFC 8200).
fn ipv6(data: &[u8], on_wire: usize) -> Result<Transport<'_>, NotDecoded> {
    let header: &[u8; IPV6_HEADER_BYTES] = data.first_chunk().ok_or(NotDecoded::Truncated)?;
    // Packets beyond 65,535 bytes state no length: jumbograms (RFC 2675), and segments before segmentation.
    let total = match u16::from_be_bytes([header[4], header[5]]) {
        0 => on_wire,
        stated => usize::from(stated) + IPV6_HEADER_BYTES,
    };
    let (header_bytes, protocol) = extensions(header[6], data)?;
    if total < header_bytes {
        return Err(NotDecoded::Malformed);
    }
    let address = |at: usize| {
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&header[at..at + 16]);
        Ipv6Addr::from(bytes)
    };
    Ok(Transport {
        protocol,
        identification: 0,
        source: address(8).into(),
        destination: address(24).into(),
        length: total - header_bytes,
        captured: captured(data, header_bytes, total),
    })
}

/// Returns whether a protocol is TCP or may be a tunnel.
const fn is_read(protocol: u8) -> bool {
    protocol == TCP || may_carry(protocol)
}

/// Returns the bytes of the IPv6 header with its extensions, and the protocol that follows them.
fn extensions(mut next: u8, data: &[u8]) -> Result<(usize, u8), NotDecoded> {
    let mut at = IPV6_HEADER_BYTES;
    for _ in 0..MAX_EXTENSIONS {
        if is_read(next) {
            return Ok((at, next));
        }
        let Some(length) = extension_bytes(next, data.get(at..).unwrap_or_default())? else {
            return Err(NotDecoded::NotTcp);
        };
        next = data[at];
        at += length;
    }
    Err(NotDecoded::Malformed)
}

/// Returns the length of an extension header; none if it is another protocol.
fn extension_bytes(kind: u8, header: &[u8]) -> Result<Option<usize>, NotDecoded> {
    let byte = |at: usize| header.get(at).copied().ok_or(NotDecoded::Truncated);
    match kind {
        // Hop-by-hop options, routing, destination options, mobility, host identity, shim6. They count units of eight
        // bytes, without the first unit.
        0 | 43 | 60 | 135 | 139 | 140 => Ok(Some(usize::from(byte(1)?) * 8 + 8)),
        // A fragment that is the whole packet is allowed (RFC 6946).
        44 if u16::from_be_bytes([byte(2)?, byte(3)?]) & 0xfff9 != 0 => Err(NotDecoded::Fragment),
        44 => Ok(Some(8)),
        // The authentication header counts units of four bytes, without the first two (RFC 4302).
        51 => Ok(Some(usize::from(byte(1)?) * 4 + 8)),
        _ => Ok(None),
    }
}

/// Returns the captured bytes after the headers, without the link's trailer.
fn captured(data: &[u8], header_bytes: usize, total: usize) -> &[u8] {
    data.get(header_bytes..total.min(data.len())).unwrap_or_default()
}
