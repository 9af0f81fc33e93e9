//! Packets that were captured more than once. Captures on all interfaces see a packet on each one that it passes, such
//! as a bridge and its ports, or a VLAN and the interface below it. A switch may also mirror both ways.
//!
//! Such copies would look like retransmissions. So each direction of a connection is read from the interface on which
//! it was seen first. Of packets that agree up to the sender's identification, the first counts. A retransmitted
//! segment has another identification.

use core::{hash::Hasher, net::SocketAddr, ops::Range, time::Duration};

use rustc_hash::{FxHashMap, FxHasher};

use super::packet::Decoded;
use crate::packet::{LinkType, Packet, Timestamp};

/// Limit on remembered directions. Beyond it all are forgotten, and each is seen first again.
const MAX_DIRECTIONS: usize = 65_536;
/// Number of earlier packets of a direction with which a new one is compared.
const COMPARED: usize = 16;
/// Longest delay of the second copy of a packet with an identification.
const COPY: Duration = Duration::from_secs(1);
/// The same for packets without one, as in IPv6. TCP retransmits nothing so soon.
const NUMBERLESS_COPY: Duration = Duration::from_millis(1);
/// The part of TCP's header that distinguishes packets.
const HEADER_MAX: usize = 60;
/// The position of TCP's checksum. A checksum that a network card computes differs between interfaces.
const CHECKSUM: Range<usize> = 16..18;

/// State of a direction: its latest packets, in a ring.
#[derive(Debug, Default)]
struct Direction {
    interface: Option<u32>,
    hashes: [u64; COMPARED],
    times: [Timestamp; COMPARED],
    /// Number of packets that were put into the ring.
    packets: usize,
}

/// Detector of packets that were captured before.
#[derive(Debug, Default)]
pub struct Repeats {
    places: FxHashMap<(SocketAddr, SocketAddr), usize>,
    directions: Vec<Direction>,
    /// The two latest directions. Most packets belong to the same two directions as their predecessors.
    last: [Option<(SocketAddr, SocketAddr, usize)>; 2],
}

impl Repeats {
    /// Creates a detector that has seen no packet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns whether the packet was captured before. `interface` is the capturing interface, if known.
    pub fn is_repeated(
        &mut self,
        interface: Option<u32>,
        packet: &Packet<'_>,
        decoded: &Decoded<'_>,
    ) -> bool {
        let interface = interface_in(packet).or(interface);
        let place = self.place(decoded.segment.from, decoded.segment.to);
        let direction = &mut self.directions[place];
        direction.is_elsewhere(interface) || direction.is_copy(decoded)
    }

    fn place(&mut self, from: SocketAddr, to: SocketAddr) -> usize {
        let mut known = self.last.iter().flatten();
        if let Some((.., place)) = known.find(|known| known.0 == from && known.1 == to) {
            return *place;
        }
        if self.directions.len() >= MAX_DIRECTIONS {
            *self = Self::default();
        }
        let place = *self.places.entry((from, to)).or_insert(self.directions.len());
        if place == self.directions.len() {
            self.directions.push(Direction::default());
        }
        self.last = [Some((from, to, place)), self.last[0]];
        place
    }
}

impl Direction {
    fn is_elsewhere(&mut self, interface: Option<u32>) -> bool {
        let Some(interface) = interface else { return false };
        *self.interface.get_or_insert(interface) != interface
    }

    fn is_copy(&mut self, decoded: &Decoded<'_>) -> bool {
        let limit = if decoded.identification == 0 { NUMBERLESS_COPY } else { COPY };
        let (hash, time) = (hash(decoded), decoded.segment.time);
        let seen = self.hashes.iter().zip(&self.times).take(self.packets);
        let mut alike = seen.filter(|(seen, _)| **seen == hash);
        if alike.any(|(_, before)| time.since(*before) <= limit) {
            return true;
        }
        let place = self.packets % COMPARED;
        (self.hashes[place], self.times[place]) = (hash, time);
        self.packets += 1;
        false
    }
}

/// Hashes the fields that distinguish a packet within its direction: its identification, TCP's header, and the length.
fn hash(decoded: &Decoded<'_>) -> u64 {
    let mut hasher = FxHasher::default();
    let header = &decoded.header[..decoded.header.len().min(HEADER_MAX)];
    hasher.write(header.get(..CHECKSUM.start).unwrap_or_default());
    hasher.write(header.get(CHECKSUM.end..).unwrap_or_default());
    hasher.write_u64(
        u64::from(decoded.segment.payload_length) << 16 | u64::from(decoded.identification),
    );
    hasher.finish()
}

/// Returns the interface that the packet itself names. Only version 2 of Linux's header for all interfaces does.
fn interface_in(packet: &Packet<'_>) -> Option<u32> {
    let is_named = packet.link == LinkType::LinuxSll2;
    let index = packet.data.get(4..8).filter(|_| is_named)?;
    index.first_chunk().map(|index| u32::from_be_bytes(*index))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::decode_inner;

    /// Returns a segment over IPv4 from this port to port 5672, with this identification.
    fn segment(port: u16, identification: u16, ttl: u8) -> Vec<u8> {
        let [high, low] = identification.to_be_bytes();
        let mut bytes =
            vec![0x45, 0, 0, 40, high, low, 0, 0, ttl, 6, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2];
        bytes.extend(port.to_be_bytes());
        bytes.extend(5_672_u16.to_be_bytes());
        bytes.extend([0, 0, 0, 1, 0, 0, 0, 0, 0x50, 0x10, 4, 0, 0, 0, 0, 0]);
        bytes
    }

    fn check(repeats: &mut Repeats, interface: Option<u32>, packet: &Packet<'_>, expected: bool) {
        let decoded = decode_inner(packet).unwrap();
        let repeated = repeats.is_repeated(interface, packet, &decoded);
        assert_eq!(repeated, expected, "{interface:?} {packet:?}");
    }

    fn packet(link: LinkType, micros: u64, data: &[u8]) -> Packet<'_> {
        let time = Timestamp::from_unix_nanos(micros * 1_000);
        Packet { number: 1, time, link, length: u32::try_from(data.len()).unwrap(), data }
    }

    #[test]
    fn the_first_interface_of_a_direction_counts() {
        let mut repeats = Repeats::new();
        let seen = [
            (3, 40_000, false),
            (5, 40_000, true),
            (3, 40_000, false),
            (5, 40_001, false),
            (3, 40_001, true),
        ];
        for (number, (interface, port, expected)) in (1..).zip(seen) {
            let data = segment(port, number, 64);
            check(&mut repeats, Some(interface), &packet(LinkType::Raw, 1, &data), expected);
        }
    }

    /// `tcpdump -i any` writes the interface into each packet.
    #[test]
    fn the_interface_in_a_header_counts() {
        let mut repeats = Repeats::new();
        for (number, (interface, expected)) in (1..).zip([(3_u8, false), (5, true), (3, false)]) {
            let header = [8, 0, 0, 0, 0, 0, 0, interface, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0];
            let data = [&header[..], &segment(40_000, number, 64)].concat();
            check(&mut repeats, None, &packet(LinkType::LinuxSll2, 1, &data), expected);
        }
    }

    /// Behind a router a copy has a smaller time to live. A retransmitted segment has another identification.
    #[test]
    fn copies_are_told_from_what_is_sent_again() {
        let mut repeats = Repeats::new();
        let seen = [
            (7, 64, 0, false),
            (7, 63, 40, true),
            (8, 64, 300_000, false),
            (7, 64, 2_000_000, false),
            (0, 64, 3_000_000, false),
            (0, 64, 3_000_900, true),
            (0, 64, 3_200_000, false),
        ];
        for (identification, ttl, micros, expected) in seen {
            let data = segment(40_000, identification, ttl);
            check(&mut repeats, None, &packet(LinkType::Raw, micros, &data), expected);
        }
    }
}
