//! Events of a whole connection, also with frames in pieces and with missing bytes.

use super::capture::{Random, Talk, ack, frame, method};
use crate::{
    activity::{Action, ActivityListener, Ends, Event},
    analyzer::{Analyzer, AnalyzerOptions},
    decode::decode_inner,
    packet::Timestamp,
    report::Side,
};

/// Events as text.
struct Heard {
    events: Vec<String>,
    describe: fn(&Event<'_>) -> String,
}

impl ActivityListener for Heard {
    fn opened(&mut self, connection: u64, ends: &Ends) {
        self.events.push(format!("{connection} opened {}", ends.from_the_start));
    }

    fn event(&mut self, _: u64, event: &Event<'_>) {
        self.events.push((self.describe)(event));
    }

    fn missed(&mut self, _: u64, sender: Side) {
        self.events.push(format!("missed {sender:?}"));
    }

    fn ended(&mut self, _: u64, _: Timestamp, is_closed: bool) {
        self.events.push(format!("ended {is_closed}"));
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn describe(event: &Event<'_>) -> String {
    let Event { channel, frames, .. } = event;
    match &event.action {
        Action::Publish(message) => format!(
            "{channel} publish {} {} of {} in {frames}",
            text(message.exchange),
            text(message.routing_key),
            message.content.header.body_bytes
        ),
        Action::Deliver(message) => format!(
            "{channel} deliver {:?} #{} {} {} of {} in {frames}",
            message.consumer_tag.map(text),
            message.delivery_tag,
            text(message.exchange),
            text(message.routing_key),
            message.content.header.body_bytes
        ),
        Action::Settle(settled) => format!("{channel} settle #{}", settled.delivery_tag),
        other => format!("{channel} {other:?}"),
    }
}

pub(super) fn heard(talk: &Talk) -> Vec<String> {
    heard_as(talk, describe)
}

/// Returns the events of a talk, as a function describes them.
pub(super) fn heard_as(talk: &Talk, describe: fn(&Event<'_>) -> String) -> Vec<String> {
    let listener = Heard { events: Vec::new(), describe };
    let mut analyzer = Analyzer::with_listener(AnalyzerOptions::new("test"), listener);
    for made in &talk.packets {
        let packet = made.packet();
        analyzer.decoded(&packet, &decode_inner(&packet));
    }
    analyzer.finish_listening().1.events
}

fn message(channel: u16, bodies: &[usize]) -> Vec<u8> {
    let size = bodies.iter().sum::<usize>() as u64;
    let header = [&[0, 60, 0, 0][..], &size.to_be_bytes(), &[0, 0]].concat();
    let bodies = bodies.iter().flat_map(|bytes| frame(3, channel, &vec![7; *bytes]));
    frame(2, channel, &header).into_iter().chain(bodies).collect()
}

/// Sends frames of the client and of the broker, in pieces of these sizes.
fn talk(mut piece: impl FnMut() -> usize) -> Talk {
    let mut talk = Talk::new();
    let client = [
        b"AMQP\0\0\x09\x01".to_vec(),
        method(1, (20, 10), b"\0"),
        method(1, (60, 40), b"\0\0\x02ex\x03key\0"),
        message(1, &[300, 200]),
        method(1, (60, 40), b"\0\0\0\x01q\0"),
        message(1, &[]),
        method(1, (60, 70), b"\0\0\x01q\0"),
    ];
    let broker = [
        method(1, (60, 71), b"\0\0\0\0\0\0\0\x01\0\0\x01q\0\0\0\0"),
        message(1, &[]),
        method(1, (60, 60), b"\x03tag\0\0\0\0\0\0\0\x02\x01\x02ex\x03key"),
        message(1, &[500]),
    ];
    for (side, bytes) in [(Side::Client, client.concat()), (Side::Broker, broker.concat())] {
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let (now, later) = rest.split_at(piece().clamp(1, rest.len()));
            talk.send(side, now);
            rest = later;
        }
    }
    talk.send(Side::Client, &ack(1, 2, false));
    talk
}

#[test]
fn messages_are_events_however_their_bytes_come() {
    let expected = [
        "0 opened true",
        "1 ChannelOpen",
        "1 publish ex key of 500 in 4",
        "1 publish  q of 0 in 2",
        "1 Get(Get { queue: [113], no_ack: false })",
        "1 deliver None #1  q of 0 in 2",
        "1 deliver Some(\"tag\") #2 ex key of 500 in 3",
        "1 settle #2",
        "ended false",
    ];
    assert_eq!(heard(&talk(|| usize::MAX)), expected);
    for bytes in [1, 7, 100] {
        assert_eq!(heard(&talk(|| bytes)), expected, "{bytes}");
    }
    let mut random = Random(5);
    assert_eq!(heard(&talk(|| random.index(90))), expected);
}

#[test]
fn a_message_with_missing_bytes_is_no_event() {
    // Packets 4 to 10 have the client's bytes; one without the method of the first publish is lost.
    let whole = talk(|| 64);
    for lost in 4..8 {
        let mut talk = talk(|| 64);
        talk.packets.remove(lost);
        let heard = heard(&talk);
        assert!(heard.iter().any(|event| event.starts_with("missed")), "{lost}: {heard:?}");
        let publishes = heard.iter().filter(|event| event.contains("publish")).count();
        assert!(publishes < 2 || lost > 4, "{lost}: {heard:?}");
        for event in heard.iter().filter(|event| event.contains("publish")) {
            assert!(self::heard(&whole).contains(event), "{lost}: {event}");
        }
    }
}

#[test]
fn records_of_tls_are_events_without_content() {
    let hello = |of: u8| [22, 3, 3, 0, 5, of, 0, 0, 1, 0];
    let record = |bytes: u8| [&[23, 3, 3, 0, bytes][..], &vec![7; usize::from(bytes)]].concat();
    let mut talk = Talk::new();
    talk.send(Side::Client, &hello(1));
    talk.send(Side::Broker, &hello(2));
    // Two records in one segment.
    talk.send(Side::Client, &[record(79), record(39)].concat());
    talk.send(Side::Broker, &record(38));
    let expected = ["0 opened true", "0 Record(79)", "0 Record(39)", "0 Record(38)", "ended false"];
    assert_eq!(heard(&talk), expected);
}
