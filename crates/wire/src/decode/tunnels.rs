//! Tunnels: packets that IP or UDP carry.
//!
//! VXLAN (RFC 7348) and Geneve (RFC 8926) by their ports, GRE (RFC 2784, 2890), IP in IP (RFC 2003, 4213).

use super::outcome::NotDecoded;

pub(super) const IPV4_IN_IP: u8 = 4;
pub(super) const UDP: u8 = 17;
pub(super) const IPV6_IN_IP: u8 = 41;
pub(super) const GRE: u8 = 47;

/// Ports of VXLAN: the registered one, and Linux's older one.
const VXLAN_PORTS: [u16; 2] = [4789, 8472];
const GENEVE_PORT: u16 = 6081;

const UDP_HEADER: usize = 8;
const VXLAN_HEADER: usize = 8;
const GENEVE_HEADER: usize = 8;

/// `EtherType`s of bridged Ethernet, IPv4 and IPv6.
const ETHERNET: u16 = 0x6558;
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;

/// A packet that another one carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Inner<'a> {
    /// The tunnel that carried it.
    pub(super) tunnel: &'static str,
    /// True if `data` begins with an Ethernet header; otherwise it begins with an IP header.
    pub(super) is_ethernet: bool,
    /// Bytes from the first header on.
    pub(super) data: &'a [u8],
}

/// Returns whether an IP packet of this protocol may carry another packet.
pub(super) const fn may_carry(protocol: u8) -> bool {
    matches!(protocol, IPV4_IN_IP | UDP | IPV6_IN_IP | GRE)
}

/// Returns the packet that IP carries in this protocol.
pub(super) fn inner(protocol: u8, data: &[u8]) -> Result<Inner<'_>, NotDecoded> {
    match protocol {
        IPV4_IN_IP | IPV6_IN_IP => Ok(Inner { tunnel: "IP in IP", is_ethernet: false, data }),
        GRE => gre(data),
        _ => udp(data),
    }
}

fn udp(data: &[u8]) -> Result<Inner<'_>, NotDecoded> {
    let port = u16_at(data, 2)?;
    let payload = rest(data, UDP_HEADER)?;
    if VXLAN_PORTS.contains(&port) {
        let data = rest(payload, VXLAN_HEADER)?;
        return Ok(Inner { tunnel: "VXLAN", is_ethernet: true, data });
    }
    if port == GENEVE_PORT {
        let options = usize::from(*payload.first().ok_or(NotDecoded::Truncated)? & 0x3f) * 4;
        let kind = u16_at(payload, 2)?;
        return of_type("Geneve", kind, rest(payload, GENEVE_HEADER + options)?);
    }
    Err(NotDecoded::NotTcp)
}

/// Reads GRE, version 0. The first byte says whether checksum, key and sequence number follow.
fn gre(data: &[u8]) -> Result<Inner<'_>, NotDecoded> {
    let flags = u16_at(data, 0)?;
    if flags & 0x4007 != 0 {
        return Err(NotDecoded::NotTcp);
    }
    let optional = [0x8000, 0x2000, 0x1000].iter().filter(|flag| flags & **flag != 0).count();
    of_type("GRE", u16_at(data, 2)?, rest(data, 4 + 4 * optional)?)
}

fn of_type<'a>(tunnel: &'static str, kind: u16, data: &'a [u8]) -> Result<Inner<'a>, NotDecoded> {
    match kind {
        ETHERNET => Ok(Inner { tunnel, is_ethernet: true, data }),
        IPV4 | IPV6 => Ok(Inner { tunnel, is_ethernet: false, data }),
        _ => Err(NotDecoded::NotIp),
    }
}

fn u16_at(data: &[u8], at: usize) -> Result<u16, NotDecoded> {
    let bytes = data.get(at..).and_then(|data| data.first_chunk());
    bytes.map(|bytes| u16::from_be_bytes(*bytes)).ok_or(NotDecoded::Truncated)
}

fn rest(data: &[u8], from: usize) -> Result<&[u8], NotDecoded> {
    data.get(from..).ok_or(NotDecoded::Truncated)
}
