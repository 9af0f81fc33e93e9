//! Bytes of a connection from both sides, in any pieces and with any gaps: frames come out in their order, each once.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rabbitscope_wire::{
    exchanges::{Exchanges, Replies},
    packet::Timestamp,
    protocols::{Conversation, Frame, FrameSink, Loss, Skipped},
    report::Side,
    stream::{Chunk, Gap},
};

/// The bytes that open a connection of each protocol.
const OPENINGS: [&[u8]; 6] = [
    b"",
    b"AMQP\0\0\x09\x01",
    b"AMQP\0\x01\0\0",
    b"\0\0\0\x0c\0\x11\0\x01\0\0\0\x01\0\0\0\0",
    b"\x10\x0d\0\x04MQTT\x04\0\0\0\0\x01a",
    b"\x16\x03\x01\0\x01\x01",
];

#[derive(Default)]
struct Ordered {
    ends: [u64; 2],
    frames: usize,
    latencies: usize,
    exchanges: Exchanges,
    replies: Replies,
}

impl FrameSink for Ordered {
    fn frame(&mut self, frame: &Frame<'_>) {
        let end = &mut self.ends[usize::from(frame.sender == Side::Broker)];
        assert!(frame.place.start >= *end, "frames do not overlap");
        assert!(frame.place.bytes() > 0 && !frame.kind.is_empty());
        *end = frame.place.end;
        self.frames += 1;
        let latencies = &mut self.latencies;
        self.exchanges.frame(frame, &mut self.replies, &mut |_| *latencies += 1);
    }

    fn lost(&mut self, loss: &Loss) {
        self.exchanges.lost(loss);
    }

    fn found(&mut self, skipped: &Skipped) {
        self.exchanges.found(skipped);
    }
}

fuzz_target!(|data: &[u8]| {
    let [opening, piece, data @ ..] = data else { return };
    let mut ordered = Ordered::default();
    let mut conversation = Conversation::default();
    let mut offsets = [0, 0];
    let opening = OPENINGS[usize::from(*opening) % OPENINGS.len()];
    feed(&mut conversation, Side::Client, opening, &mut offsets, &mut ordered);
    for part in data.chunks(usize::from(*piece) + 2) {
        let [how, part @ ..] = part else { continue };
        let sender = if how & 1 == 0 { Side::Client } else { Side::Broker };
        // One piece of sixteen is missing.
        if how >> 4 == 15 {
            let offset = &mut offsets[usize::from(how & 1)];
            let length = part.len() as u64 + 1;
            let gap = Gap { offset: *offset, length, time: Timestamp::default() };
            conversation.gap(sender, &gap, &mut ordered);
            *offset += length;
        } else {
            feed(&mut conversation, sender, part, &mut offsets, &mut ordered);
        }
    }
    assert!(ordered.frames <= data.len() + opening.len(), "a frame takes at least a byte");
});

fn feed(
    conversation: &mut Conversation,
    sender: Side,
    bytes: &[u8],
    offsets: &mut [u64; 2],
    ordered: &mut Ordered,
) {
    let offset = &mut offsets[usize::from(sender == Side::Broker)];
    let (segment_start, segment_end) = (*offset, *offset + bytes.len() as u64);
    let (time, packet) = (Timestamp::default(), 1);
    let chunk = Chunk { bytes, offset: *offset, time, packet, segment_start, segment_end };
    conversation.chunk(sender, &chunk, ordered);
    *offset = segment_end;
}
