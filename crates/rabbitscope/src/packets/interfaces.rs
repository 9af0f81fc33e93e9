//! Packets that pass several interfaces, and are captured on each: a bridge and its ports, a VLAN and the interface below it.
//!
//! Taken as they come they would look like retransmissions. So each direction of a connection is read from the
//! interface on which it was seen first.

use std::{collections::HashMap, net::SocketAddr};

use rabbitscope_probe::packets::CaptureInterface;
use rabbitscope_wire::{decode::decode, packet::Packet};

/// Directions that are remembered; when there are more all are forgotten, and seen first again.
const MAX_DIRECTIONS: usize = 65_536;

/// Which packets were seen on another interface.
#[derive(Debug)]
pub(super) struct SeenElsewhere {
    /// Where each direction was seen first; nothing where only one interface is captured.
    first: Option<HashMap<(SocketAddr, SocketAddr), u32>>,
}

impl SeenElsewhere {
    pub(super) fn new(captured: &CaptureInterface) -> Self {
        Self { first: (*captured == CaptureInterface::Any).then(HashMap::new) }
    }

    /// Whether the direction of the packet is read from another interface.
    pub(super) fn is_repeated(&mut self, interface: u32, packet: &Packet<'_>) -> bool {
        let Some(first) = &mut self.first else { return false };
        let Ok(segment) = decode(packet) else { return false };
        if first.len() >= MAX_DIRECTIONS {
            first.clear();
        }
        *first.entry((segment.from, segment.to)).or_insert(interface) != interface
    }
}

#[cfg(test)]
mod tests {
    use rabbitscope_wire::packet::{LinkType, Timestamp};

    use super::*;

    /// A SYN by IPv4 from this port to 5672.
    fn syn(port: u16) -> Vec<u8> {
        let mut bytes = vec![0x45, 0, 0, 40, 0, 0, 0, 0, 64, 6, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2];
        bytes.extend(port.to_be_bytes());
        bytes.extend(5_672_u16.to_be_bytes());
        bytes.extend([0, 0, 0, 1, 0, 0, 0, 0, 0x50, 2, 4, 0, 0, 0, 0, 0]);
        bytes
    }

    fn check(captured: &CaptureInterface, seen: &[(u32, u16, bool)]) {
        let mut elsewhere = SeenElsewhere::new(captured);
        for (interface, port, repeated) in seen {
            let data = syn(*port);
            let packet = Packet {
                number: 1,
                time: Timestamp::default(),
                link: LinkType::Raw,
                length: 40,
                data: &data,
            };
            assert_eq!(elsewhere.is_repeated(*interface, &packet), *repeated, "{interface} {port}");
        }
    }

    #[test]
    fn the_first_interface_of_a_direction_counts() {
        let any = [
            (3, 40_000, false),
            (5, 40_000, true),
            (3, 40_000, false),
            (5, 40_001, false),
            (3, 40_001, true),
        ];
        check(&CaptureInterface::Any, &any);
        let one = [(3, 40_000, false), (5, 40_000, false)];
        check(&CaptureInterface::Named("eth0".to_owned()), &one);
    }
}
