//! Each direction informs the other of its protocol.

use rabbitscope_wire::{
    packet::Timestamp,
    protocols::{Conversation, Protocol},
    report::Side,
    stream::{Chunk, Gap},
};

use super::collected::Collected;

struct Talk {
    conversation: Conversation,
    collected: Collected,
    offsets: [u64; 2],
}

impl Talk {
    fn new() -> Self {
        let (conversation, collected) = (Conversation::default(), Collected::default());
        Self { conversation, collected, offsets: [0, 0] }
    }

    fn says(&mut self, sender: Side, bytes: &[u8]) -> &mut Self {
        let offset = &mut self.offsets[usize::from(sender == Side::Broker)];
        let (segment_start, segment_end) = (*offset, *offset + bytes.len() as u64);
        let (time, packet) = (Timestamp::default(), 1);
        let chunk = Chunk { bytes, offset: *offset, time, packet, segment_start, segment_end };
        self.conversation.chunk(sender, &chunk, &mut self.collected);
        *offset = segment_end;
        self
    }

    fn misses(&mut self, sender: Side, length: u64) -> &mut Self {
        let offset = &mut self.offsets[usize::from(sender == Side::Broker)];
        let gap = Gap { offset: *offset, length, time: Timestamp::default() };
        self.conversation.gap(sender, &gap, &mut self.collected);
        *offset += length;
        self
    }

    #[track_caller]
    fn check(&self, protocol: Option<Protocol>, kinds: &[&str]) {
        assert_eq!(self.conversation.protocol(), protocol);
        let found: Vec<&str> = self.collected.frames.iter().map(|frame| frame.kind).collect();
        assert_eq!(found, kinds);
    }
}

const CONNECT: &[u8] = b"\x10\x0d\0\x04MQTT\x04\0\0\0\0\x01a";

#[test]
fn the_answer_has_the_protocol_of_the_question() {
    let mut talk = Talk::new();
    talk.says(Side::Client, CONNECT).says(Side::Broker, b"\x20\x02\0\0");
    talk.check(Some(Protocol::Mqtt), &["CONNECT", "CONNACK"]);
}

#[test]
fn a_hint_comes_in_the_middle_as_well() {
    let heartbeat = b"\x08\0\0\0\0\0\0\xce";
    let mut talk = Talk::new();
    talk.says(Side::Broker, heartbeat).says(Side::Client, heartbeat).check(None, &[]);
    talk.says(Side::Client, heartbeat).says(Side::Broker, heartbeat);
    talk.check(Some(Protocol::Amqp091), &["heartbeat"; 4]);
    assert!(!talk.conversation.direction(Side::Client).is_opened());
}

#[test]
fn a_frame_with_bytes_missing_in_its_body_stays_whole() {
    let mut talk = Talk::new();
    talk.says(Side::Client, b"AMQP\0\0\x09\x01\x03\0\x01\0\0\0\x0abo").misses(Side::Client, 8);
    talk.says(Side::Client, b"\xce\x08\0\0\0\0\0\0\xce");
    talk.check(Some(Protocol::Amqp091), &["protocol-header", "body", "heartbeat"]);
    assert_eq!(talk.collected.frames[1].missing_bytes, 8);
    assert_eq!(talk.collected.losses, 0);
}

#[test]
fn what_is_no_protocol_stays_unknown() {
    let mut talk = Talk::new();
    talk.says(Side::Client, b"GET / HTTP/1.1\r\nHost: broker\r\n\r\n");
    talk.says(Side::Broker, b"HTTP/1.1 400 Bad Request\r\n\r\n").check(None, &[]);
    assert_eq!(talk.conversation.direction(Side::Client).skipped_bytes(), 32);
}

/// A line of a proxy may precede a connection (`proxy_protocol = true`).
#[test]
fn a_protocol_header_is_found_behind_the_line_of_a_proxy() {
    let mut talk = Talk::new();
    talk.says(Side::Client, b"PROXY TCP4 192.0.2.1 192.0.2.2 5 5672\r\nAMQP\0\0\x09\x01");
    talk.check(Some(Protocol::Amqp091), &["protocol-header"]);
    assert!(talk.conversation.direction(Side::Client).is_opened());
}
