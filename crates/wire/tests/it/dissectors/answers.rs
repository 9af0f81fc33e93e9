//! Answers with reasons: their codes and texts are read, and application values among them are reported before they
//! arrive.

use core::ops::Range;

use rabbitscope_wire::{
    packet::Timestamp,
    protocols::{Conversation, Frame, FrameSink, Loss, Sensitive, Skipped},
    report::Side,
    stream::Chunk,
};

use super::{
    built::{SECRET, amqp10_frame, long, mqtt_packet, performative, short},
    secrets,
};

/// Code and text of each answer, and the reported ranges of the broker's bytes.
#[derive(Default)]
struct Heard {
    replies: Vec<(Option<u32>, String)>,
    told: Vec<Range<u64>>,
}

impl FrameSink for Heard {
    fn frame(&mut self, frame: &Frame<'_>) {
        if let Some(reply) = frame.reply {
            self.replies.push((reply.code, String::from_utf8_lossy(reply.text).into()));
        }
    }

    fn sensitive(&mut self, sensitive: &Sensitive) {
        if sensitive.sender == Side::Broker {
            self.told.push(sensitive.range.clone());
        }
    }

    fn lost(&mut self, _: &Loss) {
        panic!("frames are lost");
    }

    fn found(&mut self, _: &Skipped) {}
}

/// Feeds the broker's bytes in two pieces, cut at each offset.
#[track_caller]
fn check(question: &[u8], answers: &[Vec<u8>], expected: &[(Option<u32>, &str)]) {
    let bytes = answers.concat();
    assert!(bytes.windows(SECRET.len()).any(|window| window == SECRET));
    for cut in 1..bytes.len() {
        let (mut conversation, mut heard) = (Conversation::default(), Heard::default());
        conversation.chunk(Side::Client, &chunk(question, 0), &mut heard);
        let mut written = Vec::new();
        for piece in [&bytes[..cut], &bytes[cut..]] {
            let offset = written.len();
            conversation.chunk(Side::Broker, &chunk(piece, offset as u64), &mut heard);
            written.extend((offset..offset + piece.len()).map(|at| {
                let is_told = heard.told.iter().any(|range| range.contains(&(at as u64)));
                if is_told { 0 } else { bytes[at] }
            }));
        }
        assert!(!written.windows(SECRET.len()).any(|window| window == SECRET), "cut at {cut}");
        let replies: Vec<(Option<u32>, &str)> =
            heard.replies.iter().map(|(code, text)| (*code, text.as_str())).collect();
        assert_eq!(replies, expected, "cut at {cut}");
    }
}

fn chunk(bytes: &[u8], offset: u64) -> Chunk<'_> {
    let (segment_start, segment_end) = (offset, offset + bytes.len() as u64);
    Chunk { bytes, offset, time: Timestamp::default(), packet: 1, segment_start, segment_end }
}

#[test]
fn reasons_of_mqtt_5_stand_beside_properties() {
    let properties = secrets::mqtt_properties();
    let answer = |first: u8, before: &[u8], behind: &[u8]| {
        mqtt_packet(first, &[before, &properties, behind].concat())
    };
    let answers = [
        answer(0x20, &[0, 0x87], &[]),
        answer(0x90, &[0, 1], &[1, 0x80]),
        answer(0x90, &[0, 4], &[1, 0x87, 0x8f, 2]),
        answer(0x90, &[0, 5], &[&[0x9b][..], &[0; 80]].concat()),
        answer(0xb0, &[0, 2], &[0x83]),
        answer(0x40, &[0, 3, 0x97], &[]),
        answer(0xe0, &[0x8e], &[]),
    ];
    let codes = [0x87, 0x80, 0x87, 0x9b, 0x83, 0x97, 0x8e].map(|code| (Some(code), ""));
    check(b"\x10\x0e\0\x04MQTT\x05\0\0\0\0\0\x01a", &answers, &codes);
}

#[test]
fn conditions_of_amqp_1_0_stand_beside_maps() {
    let outcome = [&[0x50, 1, 0xa0][..], &short(SECRET)].concat();
    let open = [&[0xa1, 1][..], b"c", &[0x40; 8], &secrets::map()].concat();
    let condition = [&[0xa3][..], &short(b"amqp:not-found")].concat();
    let description = [&[0xa1][..], &short(b"no queue")].concat();
    let error = performative(0x1d, &[condition, description, secrets::map()].concat(), 3, true);
    let answers = [
        b"AMQP\x03\x01\0\0".to_vec(),
        amqp10_frame(1, 0, &performative(0x44, &outcome, 2, false)),
        b"AMQP\0\x01\0\0".to_vec(),
        amqp10_frame(0, 0, &performative(0x10, &open, 10, true)),
        amqp10_frame(0, 0, &performative(0x18, &error, 1, true)),
    ];
    let expected = [(Some(1), ""), (None, "amqp:not-found: no queue")];
    check(b"AMQP\x03\x01\0\0", &answers, &expected);
}

#[test]
fn codes_of_streams_stand_before_maps_and_challenges() {
    let answer = |key: u16, code: u16, rest: &[u8]| {
        let start = [(0x8000 | key).to_be_bytes(), [0, 1], [0, 0], [0, 1], code.to_be_bytes()];
        long(&[&start.concat()[..], rest].concat())
    };
    let answers = [
        answer(17, 1, &secrets::stream_map()),
        answer(19, 13, &long(SECRET)),
        answer(21, 12, &secrets::stream_map()),
        answer(13, 5, &[]),
    ];
    let question = [&[0, 17, 0, 1, 0, 0, 0, 1][..], &secrets::stream_map()].concat();
    let codes = [1, 13, 12, 5].map(|code| (Some(code), ""));
    check(&long(&question), &answers, &codes);
}
