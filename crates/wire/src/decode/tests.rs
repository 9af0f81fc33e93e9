//! Packets of every link type, with every kind of header, cut anywhere.

use super::{DecodeCounts, NotDecoded, decode};
use crate::{
    packet::{LinkType, Packet, Timestamp},
    segment::{Segment, TcpFlags, TcpOptions},
};

/// Returns a TCP header with these options, whose length is a multiple of four, and a payload.
fn tcp(options: &[u8], payload: &[u8]) -> Vec<u8> {
    let header_words = u8::try_from(5 + options.len() / 4).unwrap();
    let mut bytes = vec![0x16, 0x28, 0x30, 0x39, 1, 2, 3, 4, 5, 6, 7, 8];
    bytes.extend([header_words << 4, 0x18, 0x20, 0, 0xab, 0xcd, 0, 0]);
    bytes.extend(options);
    bytes.extend(payload);
    bytes
}

fn ipv4_with(options: &[u8], total: usize, fragment: u16, protocol: u8, inner: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x45 + u8::try_from(options.len() / 4).unwrap(), 0];
    bytes.extend(u16::try_from(total).unwrap().to_be_bytes());
    bytes.extend([0, 1]);
    bytes.extend(fragment.to_be_bytes());
    bytes.extend([64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    bytes.extend(options);
    bytes.extend(inner);
    bytes
}

fn ipv4(inner: &[u8]) -> Vec<u8> {
    ipv4_with(&[], 20 + inner.len(), 0x4000, 6, inner)
}

fn ipv6_with(next: u8, length: usize, inner: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x60, 0, 0, 0];
    bytes.extend(u16::try_from(length).unwrap().to_be_bytes());
    bytes.extend([next, 64]);
    bytes.extend([0; 15]);
    bytes.push(1);
    bytes.extend([0; 15]);
    bytes.push(2);
    bytes.extend(inner);
    bytes
}

fn ipv6(inner: &[u8]) -> Vec<u8> {
    ipv6_with(6, inner.len(), inner)
}

fn behind(header: &[u8], inner: &[u8]) -> Vec<u8> {
    [header, inner].concat()
}

fn ethernet(inner: &[u8]) -> Vec<u8> {
    behind(&[0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 2, 8, 0], inner)
}

fn packet(link: LinkType, data: &[u8]) -> Packet<'_> {
    let length = u32::try_from(data.len()).unwrap();
    Packet { number: 7, time: Timestamp::from_unix_nanos(9), link, length, data }
}

fn decode_all(link: LinkType, data: &[u8]) -> Result<Segment<'_>, NotDecoded> {
    decode(&packet(link, data))
}

/// Checks that the packet has `payload` and nothing else.
#[track_caller]
fn check(link: LinkType, data: &[u8], payload: &[u8]) {
    let segment = decode_all(link, data).unwrap();
    assert_eq!(segment.payload, payload);
    assert_eq!(segment.payload_length as usize, payload.len());
    assert_eq!((segment.from.port(), segment.to.port()), (5672, 12345));
}

#[track_caller]
fn check_not(link: LinkType, data: &[u8], expected: NotDecoded) {
    assert_eq!(decode_all(link, data).map(|_| ()), Err(expected));
}

#[test]
fn all_fields_of_a_segment() {
    let data = ethernet(&ipv4(&tcp(&[], b"AMQP")));
    let segment = decode_all(LinkType::Ethernet, &data).unwrap();
    assert_eq!((segment.packet, segment.time.unix_nanos(), segment.packet_length), (7, 9, 58));
    assert_eq!(segment.from.to_string(), "10.0.0.1:5672");
    assert_eq!(segment.to.to_string(), "10.0.0.2:12345");
    assert_eq!((segment.sequence, segment.acknowledgement), (0x0102_0304, 0x0506_0708));
    assert_eq!(segment.flags, TcpFlags(TcpFlags::PSH | TcpFlags::ACK));
    assert_eq!((segment.window, segment.options), (0x2000, TcpOptions::default()));
    let data = ipv6(&tcp(&[], b"AMQP"));
    let segment = decode_all(LinkType::Raw, &data).unwrap();
    assert_eq!(segment.from.to_string(), "[::1]:5672");
    assert_eq!(segment.to.to_string(), "[::2]:12345");
}

#[test]
fn every_link_type() {
    for inner in [ipv4(&tcp(&[], b"ABC")), ipv6(&tcp(&[], b"ABC"))] {
        let ether_type = if inner[0] == 0x45 { [8, 0] } else { [0x86, 0xdd] };
        let addresses = [7; 12];
        check(LinkType::Raw, &inner, b"ABC");
        let ethernet = behind(&addresses, &behind(&ether_type, &inner));
        check(LinkType::Ethernet, &ethernet, b"ABC");
        let vlan = [&addresses[..], &[0x81, 0, 0, 5], &ether_type, &inner].concat();
        check(LinkType::Ethernet, &vlan, b"ABC");
        let double = [&addresses[..], &[0x88, 0xa8, 0, 5, 0x81, 0, 0, 6], &ether_type, &inner];
        check(LinkType::Ethernet, &double.concat(), b"ABC");
        let sll = [&[0; 14][..], &ether_type, &inner].concat();
        check(LinkType::LinuxSll, &sll, b"ABC");
        let sll2 = [&ether_type[..], &[0; 18], &inner].concat();
        check(LinkType::LinuxSll2, &sll2, b"ABC");
        check(LinkType::Null, &behind(&[2, 0, 0, 0], &inner), b"ABC");
        check(LinkType::Null, &behind(&[0, 0, 0, 30], &inner), b"ABC");
        check(LinkType::Loop, &behind(&[0, 0, 0, 24], &inner), b"ABC");
    }
}

#[test]
fn padding_of_the_link_is_no_payload() {
    let empty = ethernet(&ipv4(&tcp(&[], b"")));
    check(LinkType::Ethernet, &behind(&empty, &[0; 6]), b"");
    let three = ethernet(&ipv4(&tcp(&[], b"ABC")));
    check(LinkType::Ethernet, &behind(&three, b"pad"), b"ABC");
    check(LinkType::Raw, &behind(&ipv6(&tcp(&[], b"ABC")), b"pad"), b"ABC");
}

#[test]
fn packets_without_a_length_end_where_they_end() {
    let payload = vec![9; 70_000];
    let inner = tcp(&[], &payload);
    check(LinkType::Ethernet, &ethernet(&ipv4_with(&[], 0, 0, 6, &inner)), &payload);
    check(LinkType::Raw, &ipv6_with(6, 0, &inner), &payload);
    // Only the beginning of the packet was captured.
    let data = ethernet(&ipv4_with(&[], 0, 0, 6, &inner));
    let cut = Packet { data: &data[..100], ..packet(LinkType::Ethernet, &data) };
    let segment = decode(&cut).unwrap();
    assert_eq!((segment.payload_length, segment.payload.len()), (70_000, 46));
}

#[test]
fn options_and_extension_headers_are_read_over() {
    let inner = tcp(&[], b"ABC");
    check(LinkType::Raw, &ipv4_with(&[1; 8], 28 + inner.len(), 0, 6, &inner), b"ABC");
    // Hop-by-hop options of 16 bytes, a fragment that is the whole packet, authentication.
    let mut extensions = vec![44, 1];
    extensions.extend([0; 14]);
    extensions.extend([51, 0, 0, 0, 0, 0, 0, 1, 6, 1]);
    extensions.extend([0; 10]);
    extensions.extend(&inner);
    check(LinkType::Raw, &ipv6_with(0, extensions.len(), &extensions), b"ABC");
}

#[test]
fn what_is_no_segment_is_named() {
    let inner = tcp(&[], b"ABC");
    let raw = |data: &[u8], expected| check_not(LinkType::Raw, data, expected);
    check_not(LinkType::Ethernet, &behind(&[7; 12], &[8, 6, 0]), NotDecoded::NotIp);
    check_not(LinkType::Ethernet, &[[0x81, 0]; 40].concat(), NotDecoded::NotIp);
    check_not(LinkType::Null, &[9, 0, 0, 0], NotDecoded::NotIp);
    raw(&[0x50; 40], NotDecoded::NotIp);
    raw(&ipv4_with(&[], 40, 0, 17, &inner), NotDecoded::NotTcp);
    raw(&ipv6_with(17, 20, &inner), NotDecoded::NotTcp);
    raw(&ipv4_with(&[], 43, 0x2000, 6, &inner), NotDecoded::Fragment);
    raw(&ipv4_with(&[], 43, 0x0001, 6, &inner), NotDecoded::Fragment);
    raw(&ipv6_with(44, 31, &behind(&[6, 0, 0, 1, 0, 0, 0, 0], &inner)), NotDecoded::Fragment);
    raw(&ipv4_with(&[], 19, 0, 6, &inner), NotDecoded::Malformed);
    raw(&ipv4_with(&[], 39, 0, 6, &inner), NotDecoded::Malformed);
    raw(&ipv6_with(60, 30, &[60, 0, 0, 0, 0, 0, 0, 0].repeat(9)), NotDecoded::Malformed);
    let mut short = ipv4(&inner);
    short[32] = 0x40;
    raw(&short, NotDecoded::Malformed);
    // The header claims more bytes than the packet has.
    let mut long = ipv4(&inner);
    long[32] = 0xf0;
    raw(&long, NotDecoded::Malformed);
}

#[test]
fn options_of_tcp() {
    let options = |bytes: &[u8]| {
        let data = ipv4(&tcp(bytes, b""));
        decode_all(LinkType::Raw, &data).unwrap().options
    };
    let syn = options(&[2, 4, 0xff, 0xcb, 4, 2, 8, 10, 0, 0, 0, 7, 0, 0, 0, 0, 1, 3, 3, 7]);
    assert_eq!((syn.max_segment_size, syn.window_scale), (Some(65_483), Some(7)));
    assert_eq!(syn.timestamps, Some((7, 0)));
    assert_eq!(options(&[1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2]).timestamps, Some((1, 2)));
    let blocks = options(&[1, 1, 5, 18, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4]);
    let expected = [Some((1, 2)), Some((3, 4)), None, None];
    assert_eq!(blocks.selective_acknowledgements, expected);
    assert_eq!(options(&[3, 3, 99, 0]).window_scale, Some(14));
    // An option without a length, one beyond the end, one with a wrong length, and bytes after the end.
    for nothing in [[3, 0, 3, 3], [3, 9, 1, 1], [2, 3, 1, 1], [0, 3, 3, 7], [1, 1, 1, 3]] {
        assert_eq!(options(&nothing), TcpOptions::default());
    }
}

/// Any captured beginning of a packet is decoded correctly.
#[test]
fn packets_may_be_cut_anywhere() {
    let data = ethernet(&ipv4(&tcp(&[1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2], b"ABC")));
    for end in 0..data.len() {
        let cut = Packet { data: &data[..end], ..packet(LinkType::Ethernet, &data) };
        match decode(&cut) {
            Ok(segment) => {
                assert!(end >= 54);
                assert_eq!((segment.payload_length, segment.sequence), (3, 0x0102_0304));
                assert_eq!(segment.payload, &b"ABC"[..end.saturating_sub(66)]);
            }
            Err(error) => assert_eq!((error, end < 54), (NotDecoded::Truncated, true)),
        }
    }
}

#[test]
fn outcomes_are_counted() {
    let mut counts = DecodeCounts::default();
    for reason in [
        NotDecoded::NotIp,
        NotDecoded::NotTcp,
        NotDecoded::Fragment,
        NotDecoded::Truncated,
        NotDecoded::Malformed,
    ] {
        assert_eq!(counts.count::<()>(Err(reason)), None);
    }
    assert_eq!(counts.count(Ok(3)), Some(3));
    let expected = DecodeCounts {
        segments: 1,
        not_ip: 1,
        not_tcp: 1,
        fragments: 1,
        truncated: 1,
        malformed: 1,
    };
    assert_eq!(counts, expected);
}

/// Each tunnel carries the same segment.
#[test]
fn packets_in_packets_are_read() {
    let ip = ipv4(&tcp(&[], b"hello"));
    let ethernet = [&[0; 12][..], &[0x08, 0x00], &ip].concat();
    let udp = |port: u16, inner: &[u8]| {
        let length = u16::try_from(8 + inner.len()).unwrap().to_be_bytes();
        [&[0x30, 0x39][..], &port.to_be_bytes(), &length, &[0, 0], inner].concat()
    };
    let carried =
        |protocol: u8, inner: &[u8]| ipv4_with(&[], 20 + inner.len(), 0x4000, protocol, inner);
    let vxlan =
        |port| carried(17, &udp(port, &[&[8, 0, 0, 0, 0, 0, 7, 0][..], &ethernet].concat()));
    let geneve = [&[1, 0, 0x65, 0x58, 0, 0, 7, 0, 1, 2, 3, 4][..], &ethernet].concat();
    let twice = carried(4, &carried(4, &ip));
    for (tunnel, data) in [
        ("VXLAN", vxlan(4789)),
        ("VXLAN", vxlan(8472)),
        ("Geneve", carried(17, &udp(6081, &geneve))),
        ("GRE", carried(47, &[&[0, 0, 8, 0][..], &ip].concat())),
        ("GRE", carried(47, &[&[0x20, 0, 0x65, 0x58, 0, 0, 0, 9][..], &ethernet].concat())),
        ("IP in IP", carried(4, &ip)),
        ("IP in IP", twice),
    ] {
        let decoded = super::decode_inner(&packet(LinkType::Raw, &data)).unwrap();
        assert_eq!((decoded.tunnel, decoded.segment.payload), (Some(tunnel), &b"hello"[..]));
        // A cut at any byte causes no panic.
        for end in 0..data.len() {
            let cut = Packet { data: &data[..end], ..packet(LinkType::Raw, &data) };
            let _ = decode(&cut);
        }
    }
    let mpls = [&[0; 12][..], &[0x88, 0x47, 0, 1, 0, 64, 0, 2, 1, 64], &ip].concat();
    let pppoe = [&[0; 12][..], &[0x88, 0x64, 0x11, 0, 0, 1, 0, 47, 0, 0x21], &ip].concat();
    let qinq = [&[0; 12][..], &[0x88, 0xa8, 0, 5, 0x81, 0, 0, 6, 8, 0], &ip].concat();
    let bridged = [&[0; 12][..], &[0x88, 0x47, 0, 1, 1, 64, 0, 0, 0, 0], &ethernet].concat();
    for (tunnel, data) in
        [(Some("MPLS"), mpls), (Some("MPLS"), bridged), (Some("PPPoE"), pppoe), (None, qinq)]
    {
        let decoded = super::decode_inner(&packet(LinkType::Ethernet, &data)).unwrap();
        assert_eq!((decoded.tunnel, decoded.segment.payload), (tunnel, &b"hello"[..]));
    }
    // Endless nesting is not followed.
    let endless = (0..9).fold(ip, |inner, _| carried(4, &inner));
    assert_eq!(decode(&packet(LinkType::Raw, &endless)).err(), Some(NotDecoded::Malformed));
    let other = carried(17, &udp(53, b"a question"));
    assert_eq!(decode(&packet(LinkType::Raw, &other)).err(), Some(NotDecoded::NotTcp));
}
