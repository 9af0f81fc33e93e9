//! Packets in a block of the ring (`struct tpacket_block_desc`, `struct tpacket3_hdr`, `struct sockaddr_ll` of
//! `<linux/if_packet.h>`). Pure: reads bytes that the caller has mapped. All offsets are checked, so that no
//! content of a block leads out of it.

/// Direction of a packet, from the interface's view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Sent by this machine. Absent on `lo`, where every packet comes in as well.
    Outgoing,
    /// Addressed to this machine, to a group or to all.
    Incoming,
    /// Addressed to another machine: this one forwards it, or the interface receives everything.
    Foreign,
}

/// A captured packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingPacket<'a> {
    /// Time of the packet in the kernel, in nanoseconds since the Unix epoch.
    pub unix_nanos: u64,
    /// Bytes of the whole packet, from its IP header on. 64 KiB and more are possible if the interface itself
    /// splits or joins segments.
    pub length: u32,
    /// Captured bytes: the packet from its IP header on, or its beginning. Interfaces may have padded it.
    pub data: &'a [u8],
    /// Number of the interface in the captured network.
    pub interface: u32,
    /// Kind of the interface (`ARPHRD_…` of `<linux/if_arp.h>`): 1 is Ethernet, 772 loopback.
    pub hardware: u16,
    /// Direction of the packet.
    pub direction: Direction,
    /// Number of the VLAN, if the kernel or the interface has removed its tag.
    pub vlan: Option<u16>,
}

/// Offset in a block of the part after the status word, by which kernel and user space hand the block over.
pub(super) const AFTER_STATUS: usize = 12;

/// Fields of a block: number of packets, offset of the first.
const PACKET_COUNT: usize = 12;
const FIRST_PACKET: usize = 16;

/// Fields of a packet's header, from its beginning. The address follows the header of 48 bytes.
const NEXT_OFFSET: usize = 0;
const SECONDS: usize = 4;
const NANOS: usize = 8;
const SNAP_LENGTH: usize = 12;
const LENGTH: usize = 16;
const STATUS: usize = 20;
const DATA_OFFSET: usize = 24;
const VLAN_TAG: usize = 32;
const ADDRESS: usize = 48;
const ADDRESS_INTERFACE: usize = ADDRESS + 4;
const ADDRESS_HARDWARE: usize = ADDRESS + 8;
const ADDRESS_DIRECTION: usize = ADDRESS + 10;

/// Flag of a packet's header: it has a tag.
const VLAN_VALID: u32 = libc::TP_STATUS_VLAN_VALID;

/// The lower bits of a tag; the upper ones are a priority.
const VLAN_NUMBER: u32 = 0xfff;

/// Kinds of `sll_pkttype`.
const OTHER_HOST: u8 = 3;
const OUTGOING: u8 = 4;

/// The bytes of a block from [`AFTER_STATUS`] on. Offsets count from the beginning of the block.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockBytes<'a>(pub(super) &'a [u8]);

impl<'a> BlockBytes<'a> {
    fn slice(self, at: usize, length: usize) -> Option<&'a [u8]> {
        let from = at.checked_sub(AFTER_STATUS)?;
        self.0.get(from..from.checked_add(length)?)
    }

    fn chunk<const N: usize>(self, at: usize) -> Option<[u8; N]> {
        self.slice(at, N)?.try_into().ok()
    }

    fn u32(self, at: usize) -> Option<u32> {
        self.chunk(at).map(u32::from_ne_bytes)
    }

    fn u16(self, at: usize) -> Option<u16> {
        self.chunk(at).map(u16::from_ne_bytes)
    }

    /// Number of packets in the block, by its header.
    pub(super) fn packet_count(self) -> u32 {
        self.u32(PACKET_COUNT).unwrap_or(0)
    }

    /// Its packets, in order.
    pub(super) fn packets(self) -> Packets<'a> {
        let at = self.u32(FIRST_PACKET).unwrap_or(0) as usize;
        Packets { block: self, at, left: self.packet_count() }
    }

    fn packet(self, at: usize) -> Option<RingPacket<'a>> {
        let field = |offset: usize| self.u32(at.checked_add(offset)?);
        let data = at.checked_add(self.u16(at.checked_add(DATA_OFFSET)?)?.into())?;
        let has_tag = field(STATUS)? & VLAN_VALID != 0;
        let vlan = u16::try_from(field(VLAN_TAG)? & VLAN_NUMBER).ok();
        let [kind] = self.chunk(at.checked_add(ADDRESS_DIRECTION)?)?;
        Some(RingPacket {
            unix_nanos: u64::from(field(SECONDS)?) * 1_000_000_000 + u64::from(field(NANOS)?),
            length: field(LENGTH)?,
            data: self.slice(data, field(SNAP_LENGTH)? as usize)?,
            interface: field(ADDRESS_INTERFACE)?,
            hardware: self.u16(at.checked_add(ADDRESS_HARDWARE)?)?,
            direction: direction_of(kind),
            vlan: vlan.filter(|_| has_tag),
        })
    }
}

fn direction_of(kind: u8) -> Direction {
    match kind {
        OUTGOING => Direction::Outgoing,
        OTHER_HOST => Direction::Foreign,
        _ => Direction::Incoming,
    }
}

/// The packets of a block, in the order of their arrival in the kernel.
#[derive(Clone, Debug)]
pub struct Packets<'a> {
    block: BlockBytes<'a>,
    at: usize,
    left: u32,
}

impl<'a> Iterator for Packets<'a> {
    type Item = RingPacket<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let packet = self.block.packet(self.at)?;
        // For the last packet it is 0 and not used.
        let step = self.block.u32(self.at + NEXT_OFFSET)? as usize;
        self.at = self.at.checked_add(step)?;
        if step == 0 {
            self.left = 0;
        }
        Some(packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(block: &mut [u8], at: usize, bytes: &[u8]) {
        block[at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// A block of 512 bytes with two packets, in the kernel's format.
    fn two_packets() -> Vec<u8> {
        let mut block = vec![0; 512];
        put(&mut block, PACKET_COUNT, &2_u32.to_ne_bytes());
        put(&mut block, FIRST_PACKET, &48_u32.to_ne_bytes());
        for (at, next, second, text) in [(48, 128_u32, 7_u32, b"first.."), (176, 0, 8, b"second.")]
        {
            put(&mut block, at + NEXT_OFFSET, &next.to_ne_bytes());
            put(&mut block, at + SECONDS, &second.to_ne_bytes());
            put(&mut block, at + NANOS, &5_u32.to_ne_bytes());
            put(&mut block, at + SNAP_LENGTH, &7_u32.to_ne_bytes());
            put(&mut block, at + LENGTH, &1500_u32.to_ne_bytes());
            put(&mut block, at + STATUS, &(VLAN_VALID * (second - 7)).to_ne_bytes());
            put(&mut block, at + DATA_OFFSET, &82_u16.to_ne_bytes());
            put(&mut block, at + VLAN_TAG, &0xe064_u32.to_ne_bytes());
            put(&mut block, at + ADDRESS_INTERFACE, &3_u32.to_ne_bytes());
            put(&mut block, at + ADDRESS_HARDWARE, &1_u16.to_ne_bytes());
            put(&mut block, at + ADDRESS_DIRECTION, &[OUTGOING]);
            put(&mut block, at + 82, text);
        }
        block
    }

    #[test]
    fn packets_of_a_block() {
        let block = two_packets();
        let packets: Vec<RingPacket<'_>> = BlockBytes(&block[AFTER_STATUS..]).packets().collect();
        let first = RingPacket {
            unix_nanos: 7_000_000_005,
            length: 1500,
            data: b"first..",
            interface: 3,
            hardware: 1,
            direction: Direction::Outgoing,
            vlan: None,
        };
        let second =
            RingPacket { unix_nanos: 8_000_000_005, data: b"second.", vlan: Some(0x64), ..first };
        assert_eq!(packets, [first, second]);
    }

    /// For any bytes: no panic, no more packets than announced, nothing from outside of the block.
    #[test]
    fn no_content_leads_out_of_the_block() {
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        let mut random = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        for _ in 0..20_000 {
            let mut block = two_packets();
            for _ in 0..4 {
                let at = usize::try_from(random() % 260).unwrap();
                block[at] = random().to_ne_bytes()[0];
            }
            let bytes = BlockBytes(&block[AFTER_STATUS..]);
            assert!(bytes.packets().take(1000).count() <= bytes.packet_count() as usize);
        }
        assert_eq!(BlockBytes(&[]).packets().count(), 0);
        assert_eq!(BlockBytes(&[0xff; 300]).packets().count(), 0);
    }

    #[test]
    fn kinds() {
        let check = |kind, expected| assert_eq!(direction_of(kind), expected);
        check(0, Direction::Incoming);
        check(2, Direction::Incoming);
        check(3, Direction::Foreign);
        check(4, Direction::Outgoing);
    }
}
