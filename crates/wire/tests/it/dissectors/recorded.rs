//! Captures of real clients, with the counts of tshark 4.0.17, as left by `KEEP=… scripts/compare-wire.sh`. The broker
//! was RabbitMQ 3.10.8 with frames of 8,192 bytes; pika's connection ends with a channel error.

use rabbitscope_wire::{
    capture::{PacketReader, PacketWriter},
    protocols::{Protocol, SensitiveKind},
    report::{LatencyKind, Side, Unmatched},
};

use super::{captured::Captured, collected::in_pieces};

/// The words with which bodies begin.
const BODY: &[u8] = b"body of a message";

const PIKA: (&[u8], u16) = (include_bytes!("../recorded/pika.pcap"), broker::AMQP);
const PROTON: (&[u8], u16) = (include_bytes!("../recorded/proton.pcap"), broker::AMQP);
const RSTREAM: (&[u8], u16) = (include_bytes!("../recorded/rstream.pcap"), broker::STREAM);
const PAHO: (&[u8], u16) = (include_bytes!("../recorded/paho.pcap"), broker::MQTT);

/// The broker's ports and its password. The broker no longer exists.
mod broker {
    include!("../recorded/broker.rs");
}

fn captured((file, port): (&[u8], u16)) -> Captured {
    Captured::with_bytes().read(file, &[port]).unwrap()
}

#[track_caller]
fn check(file: (&[u8], u16), protocol: Protocol, tshark: &str) -> Captured {
    let captured = captured(file);
    let mut kinds: Vec<String> = Vec::new();
    for kind in captured.frames.keys().map(|(_, kind, _)| *kind) {
        let line = format!("{} {kind}", captured.count(kind));
        // tshark does not count protocol headers.
        if kind != "protocol-header" && !kinds.contains(&line) {
            kinds.push(line);
        }
    }
    kinds.sort_unstable();
    let mut expected: Vec<&str> = tshark.lines().collect();
    expected.sort_unstable();
    assert_eq!(kinds, expected);
    assert!(captured.frames.keys().all(|(of, ..)| *of == protocol));
    assert_eq!((captured.skipped_bytes(), captured.losses), (0, 0));
    captured
}

#[test]
fn pika_counts_as_tshark_counts() {
    let captured = check(PIKA, Protocol::Amqp091, include_str!("../recorded/pika.kinds"));
    assert_eq!(captured.count("protocol-header"), 1);
    // 20 publishes, one without a body, a large one and a returned one; no number is left open.
    assert_eq!(captured.of_kind(LatencyKind::PublishToConfirm).count(), 23);
    let unmatched = captured.unmatched(LatencyKind::PublishToConfirm);
    assert!(unmatched.iter().all(|counts| *counts == Unmatched::default()), "{unmatched:?}");
}

#[test]
fn proton_counts_as_tshark_counts() {
    let captured = check(PROTON, Protocol::Amqp10, include_str!("../recorded/proton.kinds"));
    assert_eq!(captured.of_kind(LatencyKind::PublishToConfirm).count(), 21);
    // The broker ended the session before the others were acknowledged.
    assert_eq!(captured.of_kind(LatencyKind::DeliverToAck).count(), 10);
}

#[test]
fn paho_counts_as_tshark_counts() {
    let captured = check(PAHO, Protocol::Mqtt, include_str!("../recorded/paho.kinds"));
    assert_eq!(captured.of_kind(LatencyKind::PublishToConfirm).count(), 15);
    assert_eq!(captured.of_kind(LatencyKind::DeliverToAck).count(), 15);
}

/// tshark does not support the stream protocol. The client received 150 confirms of its own publishes; one more is for
/// a batch.
#[test]
fn rstream_publishes_are_confirmed() {
    let captured = captured(RSTREAM);
    assert!(captured.frames.keys().all(|(of, ..)| *of == Protocol::RabbitmqStream));
    assert_eq!((captured.skipped_bytes(), captured.losses), (0, 0));
    assert_eq!(captured.of_kind(LatencyKind::PublishToConfirm).count(), 151);
    let unmatched = captured.unmatched(LatencyKind::PublishToConfirm);
    assert!(unmatched.iter().all(|counts| *counts == Unmatched::default()), "{unmatched:?}");
    for kind in
        ["peer-properties", "sasl-handshake", "sasl-authenticate", "open", "declare-publisher"]
    {
        assert!(captured.count(kind) > 0, "{kind}");
    }
}

/// At any cut of the capture, deliveries after the cut take as long as in the whole capture, to the nanosecond.
#[test]
fn deliveries_behind_a_cut_take_as_long_as_in_the_whole_capture() {
    let (file, port) = PIKA;
    let whole = captured(PIKA);
    let of = |captured: &Captured, offset: u64| -> Vec<(u64, u64, u64)> {
        let all = captured.of_kind(LatencyKind::DeliverToAck);
        all.map(|found| (found.first_packet + offset, found.last_packet + offset, found.nanos))
            .collect()
    };
    let expected = of(&whole, 0);
    let packets = expected.iter().map(|(_, last, _)| *last).max().unwrap();
    for cut in 0..packets {
        let rest = of(&Captured::default().read(&behind(file, cut), &[port]).unwrap(), cut);
        // The message's first packet is after the cut as well.
        let begins_behind =
            |last: u64| whole.messages.iter().any(|(method, end)| *end == last && *method > cut);
        let mut left = expected.clone();
        left.retain(|(delivered, ..)| begins_behind(*delivered));
        assert_eq!(rest, left, "behind packet {cut}");
    }
    assert!(expected.len() > 10, "{expected:?}");
}

/// Returns the packets of a capture after this one.
fn behind(file: &[u8], cut: u64) -> Vec<u8> {
    let mut reader = PacketReader::new(file).unwrap();
    let mut writer = PacketWriter::new(Vec::new(), "test").unwrap();
    let mut interface = None;
    while let Some(packet) = reader.next().unwrap() {
        let new = interface.map_or_else(|| writer.interface(packet.link, 0, "lo"), Ok).unwrap();
        interface = Some(new);
        if packet.number > cut {
            writer.packet(new, &packet, None).unwrap();
        }
    }
    writer.finish().unwrap()
}

#[test]
fn passwords_and_bodies_can_be_blanked() {
    for file in [PIKA, PROTON, RSTREAM, PAHO] {
        let captured = captured(file);
        let is_understood = |kind| kind != SensitiveKind::Unrecognized;
        assert!(captured.sensitive.iter().all(|(_, sensitive)| is_understood(sensitive.kind)));
        let mut passwords = 0;
        for ((connection, side), bytes) in &captured.bytes {
            let blanked = captured.blanked(*connection, *side);
            assert!(
                !holds(&blanked, broker::PASSWORD) && !holds(&blanked, BODY),
                "{connection:?} {side:?}"
            );
            passwords += usize::from(holds(bytes, broker::PASSWORD));
            // The remaining bytes are read as before.
            let kinds = |bytes: &[u8]| in_pieces(bytes, [].into_iter()).collected.kinds();
            if *side == Side::Client {
                assert_eq!(kinds(&blanked), kinds(bytes));
            }
        }
        assert!(passwords > 0, "the capture holds the password");
    }
}

fn holds(bytes: &[u8], word: &[u8]) -> bool {
    bytes.windows(word.len()).any(|window| window == word)
}
