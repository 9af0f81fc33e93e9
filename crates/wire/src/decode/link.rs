//! The link's header with VLAN tags, up to the IP packet.

use super::outcome::NotDecoded;
use crate::packet::LinkType;

/// `EtherType`s (<https://www.iana.org/assignments/ieee-802-numbers>).
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
/// Tags of 802.1Q, of 802.1ad (`QinQ`), and of `QinQ` before its standard.
const VLAN_TAGS: [u16; 4] = [0x8100, 0x88a8, 0x9100, 0x9200];

/// Labels of MPLS (RFC 3032, 5332), and sessions of `PPPoE` (RFC 2516).
const MPLS: u16 = 0x8847;
const MPLS_MULTICAST: u16 = 0x8848;
const PPPOE_SESSION: u16 = 0x8864;
/// Protocol numbers of IPv4 and IPv6 in PPP.
const PPP_PROTOCOLS: [u16; 2] = [0x0021, 0x0057];
const PPPOE_HEADER_BYTES: usize = 6;

/// Limit on tags; no network uses more. It bounds the time spent on hostile packets.
const MAX_TAGS: usize = 8;

const ETHERNET_ADDRESSES_BYTES: usize = 12;
const SLL_HEADER_BYTES: usize = 16;
const SLL2_HEADER_BYTES: usize = 20;

/// Numbers of the address families IPv4 and IPv6 in BSD, macOS, Linux and Windows.
const FAMILIES: [u32; 6] = [2, 10, 23, 24, 28, 30];

/// An IP packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Network<'a> {
    /// The tunnel behind the link's header that carried it, if any.
    pub(super) tunnel: Option<&'static str>,
    /// Captured bytes from the IP header on.
    pub(super) data: &'a [u8],
}

impl<'a> Network<'a> {
    /// Creates a packet that follows the link's header directly.
    const fn plain(data: &'a [u8]) -> Self {
        Self { tunnel: None, data }
    }

    const fn within(tunnel: &'static str, data: &'a [u8]) -> Self {
        Self { tunnel: Some(tunnel), data }
    }
}

/// Returns the IP packet behind the link's header.
pub(super) fn network(link: LinkType, data: &[u8]) -> Result<Network<'_>, NotDecoded> {
    match link {
        LinkType::Raw => Ok(Network::plain(data)),
        LinkType::Ethernet => ethernet(data),
        LinkType::Null | LinkType::Loop => family(data),
        // The `EtherType` is the last field of the first header and the first field of the second.
        LinkType::LinuxSll => tagged(rest(data, SLL_HEADER_BYTES - 2)?),
        LinkType::LinuxSll2 => {
            let ether_type = ether_type(data)?;
            untagged(ether_type, rest(data, SLL2_HEADER_BYTES)?)
        }
    }
}

/// Reads the packet behind the `EtherType` with which `data` begins.
fn tagged(data: &[u8]) -> Result<Network<'_>, NotDecoded> {
    untagged(ether_type(data)?, &data[2..])
}

/// Reads the packet behind an `EtherType` and skips VLAN tags. A tag is two bytes of control and the next `EtherType`.
fn untagged(mut kind: u16, mut data: &[u8]) -> Result<Network<'_>, NotDecoded> {
    for _ in 0..MAX_TAGS {
        if kind == IPV4 || kind == IPV6 {
            return Ok(Network::plain(data));
        }
        match kind {
            MPLS | MPLS_MULTICAST => return labelled(data),
            PPPOE_SESSION => return session(data),
            _ if !VLAN_TAGS.contains(&kind) => break,
            _ => {}
        }
        data = rest(data, 2)?;
        kind = ether_type(data)?;
        data = &data[2..];
    }
    Err(NotDecoded::NotIp)
}

/// Reads the packet behind MPLS labels: IP, or Ethernet after a control word (RFC 4448), whose first bits are 0.
fn labelled(mut data: &[u8]) -> Result<Network<'_>, NotDecoded> {
    for _ in 0..MAX_TAGS {
        let (label, behind) = data.split_first_chunk::<4>().ok_or(NotDecoded::Truncated)?;
        data = behind;
        // The last label of the stack.
        if label[2] & 1 != 0 {
            return match data.first().ok_or(NotDecoded::Truncated)? >> 4 {
                4 | 6 => Ok(Network::within("MPLS", data)),
                0 => Ok(Network::within("MPLS", ethernet(rest(data, 4)?)?.data)),
                _ => Err(NotDecoded::NotIp),
            };
        }
    }
    Err(NotDecoded::NotIp)
}

/// Reads the packet behind the header of a `PPPoE` session.
fn session(data: &[u8]) -> Result<Network<'_>, NotDecoded> {
    let frame = rest(data, PPPOE_HEADER_BYTES)?;
    let protocol = ether_type(frame)?;
    if !PPP_PROTOCOLS.contains(&protocol) {
        return Err(NotDecoded::NotIp);
    }
    Ok(Network::within("PPPoE", &frame[2..]))
}

/// Reads the packet behind an Ethernet header.
pub(super) fn ethernet(data: &[u8]) -> Result<Network<'_>, NotDecoded> {
    tagged(rest(data, ETHERNET_ADDRESSES_BYTES)?)
}

/// Reads the packet behind an address family of four bytes. Files do not record the host's byte order.
fn family(data: &[u8]) -> Result<Network<'_>, NotDecoded> {
    let (family, data) = data.split_first_chunk().ok_or(NotDecoded::Truncated)?;
    let is_ip = [u32::from_be_bytes(*family), u32::from_le_bytes(*family)]
        .iter()
        .any(|family| FAMILIES.contains(family));
    if is_ip { Ok(Network::plain(data)) } else { Err(NotDecoded::NotIp) }
}

fn ether_type(data: &[u8]) -> Result<u16, NotDecoded> {
    data.first_chunk().map(|bytes| u16::from_be_bytes(*bytes)).ok_or(NotDecoded::Truncated)
}

fn rest(data: &[u8], from: usize) -> Result<&[u8], NotDecoded> {
    data.get(from..).ok_or(NotDecoded::Truncated)
}
