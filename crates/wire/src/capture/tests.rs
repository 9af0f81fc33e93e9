//! Files of both formats in both byte orders, cut anywhere and damaged.

use super::{ByteOrder, PacketReader, PacketWriter};
use crate::packet::{LinkType, Packet, Timestamp};

/// Bytes of a file, in a byte order.
struct File(Vec<u8>, ByteOrder);

impl File {
    fn u16(mut self, number: u16) -> Self {
        match self.1 {
            ByteOrder::Little => self.0.extend(number.to_le_bytes()),
            ByteOrder::Big => self.0.extend(number.to_be_bytes()),
        }
        self
    }

    fn u32(mut self, number: u32) -> Self {
        match self.1 {
            ByteOrder::Little => self.0.extend(number.to_le_bytes()),
            ByteOrder::Big => self.0.extend(number.to_be_bytes()),
        }
        self
    }

    fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.extend(bytes);
        self
    }

    fn pcap(order: ByteOrder, magic: u32, link: u32) -> Self {
        Self(Vec::new(), order).u32(magic).u16(2).u16(4).u32(0).u32(0).u32(65_535).u32(link)
    }

    fn record(self, seconds: u32, fraction: u32, length: u32, data: &[u8]) -> Self {
        let captured = u32::try_from(data.len()).unwrap();
        self.u32(seconds).u32(fraction).u32(captured).u32(length).bytes(data)
    }

    fn block(self, kind: u32, body: impl FnOnce(Self) -> Self) -> Self {
        let body = body(Self(Vec::new(), self.1)).0;
        let length = u32::try_from(body.len() + 12).unwrap();
        self.u32(kind).u32(length).bytes(&body).u32(length)
    }

    fn section(self) -> Self {
        self.block(0x0a0d_0d0a, |body| body.u32(0x1a2b_3c4d).u16(1).u16(0).bytes(&[0xff; 8]))
    }

    /// Adds an interface, with `resolution` as option 9.
    fn interface(self, link: u16, snap_length: u32, resolution: u8) -> Self {
        self.block(1, |body| {
            let body = body.u16(link).u16(0).u32(snap_length);
            body.u16(9).u16(1).bytes(&[resolution, 0, 0, 0]).u32(0)
        })
    }

    /// Adds a packet with at most four bytes of data, padded.
    fn packet(self, interface: u32, units: u64, data: &[u8]) -> Self {
        let mut padded = data.to_vec();
        padded.resize(4, 0);
        self.block(6, |body| {
            let body = body.u32(interface).u32(0).u32(u32::try_from(units).unwrap());
            body.u32(u32::try_from(data.len()).unwrap()).u32(100).bytes(&padded)
        })
    }
}

/// Times in nanoseconds, links, lengths and data of all packets, and the error after them.
type Contents = (Vec<(u64, LinkType, u32, Vec<u8>)>, Option<String>);

fn read(bytes: &[u8]) -> Contents {
    let mut reader = match PacketReader::new(bytes) {
        Ok(reader) => reader,
        Err(error) => return (Vec::new(), Some(error.to_string())),
    };
    let mut packets = Vec::new();
    loop {
        match reader.next() {
            Ok(Some(packet)) => {
                assert_eq!(packet.number, packets.len() as u64 + 1);
                let time = packet.time.unix_nanos();
                packets.push((time, packet.link, packet.length, packet.data.to_vec()));
            }
            Ok(None) => return (packets, None),
            Err(error) => {
                assert!(matches!(reader.next(), Ok(None)));
                return (packets, Some(error.to_string()));
            }
        }
    }
}

#[track_caller]
fn check_error(bytes: &[u8], packets: usize, part: &str) {
    let (read, error) = read(bytes);
    assert_eq!(read.len(), packets);
    assert!(error.as_ref().is_some_and(|error| error.contains(part)), "{error:?}");
}

const BOTH: [ByteOrder; 2] = [ByteOrder::Little, ByteOrder::Big];

#[test]
fn pcap_in_both_orders_and_resolutions() {
    for order in BOTH {
        for (magic, nanos) in [(0xa1b2_c3d4, 7_000_005_000), (0xa1b2_3c4d, 7_000_000_005)] {
            // The upper bits mean that frames have a check sequence of four bytes.
            let file = File::pcap(order, magic, 0x4400_0001).record(7, 5, 60, b"abc");
            let file = file.record(8, 0, 0, b"de");
            let (packets, error) = read(&file.0);
            assert_eq!(error, None);
            assert_eq!(packets[0], (nanos, LinkType::Ethernet, 60, b"abc".to_vec()));
            assert_eq!(packets[1], (8_000_000_000, LinkType::Ethernet, 2, b"de".to_vec()));
        }
    }
}

fn several_interfaces(order: ByteOrder) -> File {
    File(Vec::new(), order)
        .section()
        .interface(1, 0, 6)
        .interface(276, 0, 9)
        .packet(1, 5, b"sll2")
        .block(0x0000_0bad, |body| body.bytes(&[7; 40]))
        .packet(0, 5, b"eth")
        .block(3, |body| body.u32(3).bytes(b"spb\0"))
        .block(2, |body| body.u16(1).u16(9).u32(0).u32(8).u32(2).u32(2).bytes(b"ob\0\0"))
        .block(5, |body| {
            let statistics = body.u32(0).u32(0).u32(0).u16(7).u16(8);
            match order {
                ByteOrder::Little => statistics.bytes(&4_u64.to_le_bytes()),
                ByteOrder::Big => statistics.bytes(&4_u64.to_be_bytes()),
            }
        })
        .section()
        .interface(101, 2, 0)
        .packet(0, 3, b"raw")
        .block(3, |body| body.u32(5).bytes(b"cu\0\0"))
}

#[test]
fn pcapng_with_several_interfaces_and_sections() {
    for order in BOTH {
        let (packets, error) = read(&several_interfaces(order).0);
        assert_eq!(error, None);
        let expected = [
            (5, LinkType::LinuxSll2, 100, b"sll2".to_vec()),
            (5000, LinkType::Ethernet, 100, b"eth".to_vec()),
            (0, LinkType::Ethernet, 3, b"spb".to_vec()),
            (8, LinkType::LinuxSll2, 2, b"ob".to_vec()),
            (3_000_000_000, LinkType::Raw, 100, b"raw".to_vec()),
            (0, LinkType::Raw, 5, b"cu".to_vec()),
        ];
        assert_eq!(packets, expected);
    }
}

#[test]
fn losses_that_the_file_reports_are_known() {
    let file = several_interfaces(ByteOrder::Big);
    let mut reader = PacketReader::new(&file.0[..]).unwrap();
    assert_eq!(reader.reported_drops(), None);
    while reader.next().unwrap().is_some() {}
    assert_eq!(reader.reported_drops(), Some(4));
    assert_eq!(reader.offset(), file.0.len() as u64);
}

/// A file that is cut short yields the packets before the cut, and an error unless the cut is at the end of a record.
#[test]
fn a_file_may_end_anywhere() {
    let pcap = File::pcap(ByteOrder::Little, 0xa1b2_c3d4, 1);
    let pcap = pcap.record(7, 5, 60, b"abc").record(8, 0, 60, b"defg");
    for file in [pcap, several_interfaces(ByteOrder::Little)] {
        let (all, _) = read(&file.0);
        let whole = (4..file.0.len()).filter(|end| {
            let (packets, error) = read(&file.0[..*end]);
            assert_eq!(packets, all[..packets.len()]);
            let cut =
                error.as_ref().is_some_and(|error| error.contains(&format!("ends at byte {end}")));
            assert!(cut || error.is_none(), "{error:?}");
            error.is_none()
        });
        assert!((2..13).contains(&whole.count()));
    }
}

#[test]
fn errors_say_what_is_wrong_and_where() {
    let section = || File(Vec::new(), ByteOrder::Little).section();
    let ethernet = || section().interface(1, 0, 6).packet(0, 0, b"1");
    check_error(&File::pcap(ByteOrder::Big, 0xa1b2_c3d4, 147).0, 0, "link type 147 is not");
    check_error(&section().interface(147, 0, 6).packet(0, 0, b"").0, 0, "supported are Ethernet");
    check_error(&ethernet().interface(9, 0, 6).packet(1, 0, b"").0, 1, "link type 9 is not");
    check_error(&ethernet().packet(1, 0, b"").0, 1, "without a description");
    check_error(&ethernet().u32(6).u32(13).0, 1, "damaged at byte 96, after 1 packets: the length");
    check_error(&ethernet().u32(6).u32(0xffff_fff0).0, 1, "more than 524,288");
    check_error(&ethernet().u32(99).u32(0xffff_fff0).0, 1, "ends at byte 104");
    check_error(
        &ethernet().u32(6).u32(16).u32(0).u32(12).0,
        1,
        "different lengths at its start and end",
    );
    check_error(&ethernet().block(6, |body| body.u32(0)).0, 1, "too short");
    let long = |captured: u32| {
        let body = move |body: File| body.u32(0).u32(0).u32(0).u32(captured).u32(5).bytes(b"1234");
        ethernet().block(6, body)
    };
    check_error(&long(5).0, 1, "longer than its block");
    check_error(&long(u32::MAX).0, 1, "more than 262,144");
    check_error(&section().block(0x0a0d_0d0a, |body| body.u32(0x1a2b_3c4d)).0, 0, "version");
    check_error(&section().block(0x0a0d_0d0a, |body| body.u32(1)).0, 0, "byte order");
    let pcap = File::pcap(ByteOrder::Big, 0xa1b2_c3d4, 1).record(1, 1, 1, b"1");
    check_error(&pcap.u32(0).u32(0).u32(262_145).u32(0).0, 1, "damaged at byte 41, after 1");
}

#[test]
fn a_failing_input_is_told_from_a_short_one() {
    struct Failing;
    impl std::io::Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("the disk is gone"))
        }
    }
    let file = File::pcap(ByteOrder::Big, 0xa1b2_c3d4, 1).record(1, 1, 1, b"1");
    let mut reader = PacketReader::new(std::io::Read::chain(&file.0[..], Failing)).unwrap();
    assert!(reader.next().unwrap().is_some());
    let error = reader.next().unwrap_err().to_string();
    assert_eq!(error, "reading the capture failed at byte 41, after 1 packets: the disk is gone");
}

#[test]
fn what_was_written_is_read() {
    let mut writer = PacketWriter::new(Vec::new(), "rabbitscope 0.1.0").unwrap();
    let ethernet = writer.interface(LinkType::Ethernet, 65_535, "lo").unwrap();
    let raw = writer.interface(LinkType::Raw, 0, "tun0").unwrap();
    let time = Timestamp::from_unix_nanos(1_700_000_000_123_456_789);
    let packet = |link, data| Packet { number: 77, time, link, length: 1500, data };
    writer.packet(ethernet, &packet(LinkType::Ethernet, b"12345"), None).unwrap();
    let comment = "é".repeat(40_000);
    writer.packet(raw, &packet(LinkType::Raw, b"1234"), Some(&comment)).unwrap();
    writer.statistics(ethernet, time, 1000, 17).unwrap();
    writer.statistics(raw, time, 10, 1).unwrap();
    let file = writer.finish().unwrap();
    let (packets, error) = read(&file);
    assert_eq!(error, None);
    let nanos = time.unix_nanos();
    assert_eq!(packets[0], (nanos, LinkType::Ethernet, 1500, b"12345".to_vec()));
    assert_eq!(packets[1], (nanos, LinkType::Raw, 1500, b"1234".to_vec()));
    let mut reader = PacketReader::new(&file[..]).unwrap();
    while reader.next().unwrap().is_some() {}
    assert_eq!(reader.reported_drops(), Some(18));
}
