//! Time-sequence graphs and ladders of four faults.

use rabbitscope_wire::report::{
    Ladder, LadderFrame, PictureSegment, SegmentKind, Side, TimeSequence, WindowPoint,
};

use super::report::{MICROSECOND, MILLISECOND, SECOND};

/// A direction that is built segment by segment.
struct Writer {
    sequence: TimeSequence,
    offset: u64,
    packet: u64,
}

impl Writer {
    fn new(title: &str, from: Side, span: (u64, u64), offset: u64) -> Self {
        Self {
            sequence: TimeSequence {
                connection: "10.20.0.17:40000 -> 10.20.0.5:5672".to_owned(),
                from,
                title: title.to_owned(),
                from_nanos: span.0,
                to_nanos: span.1,
                segments: Vec::new(),
                windows: Vec::new(),
                left_out: 0,
            },
            offset,
            packet: 1000,
        }
    }

    fn send(&mut self, nanos: u64, length: u64, frame: &str, frames: u32) {
        let offset = self.offset;
        self.offset += length;
        self.put(nanos, offset, length, SegmentKind::New, (frame, frames));
    }

    fn put(&mut self, nanos: u64, offset: u64, length: u64, kind: SegmentKind, frame: (&str, u32)) {
        self.packet += 2;
        self.sequence.segments.push(PictureSegment {
            nanos,
            offset,
            length,
            kind,
            packet: self.packet,
            frame: frame.0.to_owned(),
            frames: frame.1,
        });
    }

    fn acknowledge(&mut self, nanos: u64, acknowledged: u64, room: Option<u64>) {
        self.sequence.windows.push(WindowPoint { nanos, acknowledged, room });
    }
}

pub(super) fn time_sequences() -> Vec<TimeSequence> {
    vec![slow_reader(), losses(), nagle(), loopback()]
}

/// Deliveries into a buffer that stays unread for a while.
fn slow_reader() -> TimeSequence {
    let (begin, buffer) = (2 * SECOND, 65_535_u64);
    let span = (begin, begin + 3 * SECOND);
    let mut it = Writer::new("the receiver had no room", Side::Broker, span, 812_345_678);
    let mut read = it.offset;
    let mut nanos = begin;
    while nanos < span.1 {
        let is_asleep = (nanos - begin) % SECOND > 350 * MILLISECOND;
        if !is_asleep {
            read = it.offset;
        }
        if it.offset + 1448 <= read + buffer {
            it.send(nanos, 1448, "basic.deliver", 2);
            it.acknowledge(nanos + 300 * MICROSECOND, it.offset, Some(read + buffer));
        } else if it
            .sequence
            .windows
            .last()
            .is_some_and(|last| last.room != Some(last.acknowledged))
        {
            it.acknowledge(nanos + 300 * MICROSECOND, it.offset, Some(it.offset));
        }
        nanos += 1700 * MICROSECOND + nanos % 977 * MICROSECOND;
    }
    it.sequence
}

/// A batch of publishes over a path that loses and reorders packets.
fn losses() -> TimeSequence {
    let span = (5 * SECOND, 5 * SECOND + 420 * MILLISECOND);
    let mut it = Writer::new("bytes are sent again", Side::Client, span, 0);
    let mut nanos = span.0;
    let mut window = 10;
    while nanos + 25 * MILLISECOND < span.1 {
        let flight = it.offset;
        let flight_size = window;
        for at in 0..flight_size {
            let is_lost = it.packet % 611 < 3 && window > 20;
            if at == 37 && window > 60 {
                let offset = it.offset;
                it.offset += 2896;
                let early = (offset + 1448, ("body", 0));
                it.put(nanos, early.0, 1448, SegmentKind::OutOfOrder, early.1);
                it.put(nanos + 40_000, offset, 1448, SegmentKind::New, ("body", 1));
            } else if is_lost {
                let offset = it.offset;
                it.send(nanos, 1448, "body", 1);
                it.put(
                    nanos + 22 * MILLISECOND,
                    offset,
                    1448,
                    SegmentKind::Retransmitted,
                    ("body", 1),
                );
                window = 1 + window / 2;
            } else {
                let (frame, frames) = [("basic.publish", 3), ("body", 0), ("header", 2)][at % 3];
                it.send(nanos, 1448, frame, frames);
            }
            nanos += 45 * MICROSECOND;
            if at % 4 == 0 {
                let acknowledged = flight + (it.offset - flight) / 2;
                it.acknowledge(nanos, acknowledged, Some(acknowledged + 262_144));
            }
        }
        window = (window + window / 2).min(160);
        nanos += 9 * MILLISECOND;
    }
    it.sequence.left_out = 412;
    it.sequence
}

/// Nagle's algorithm against delayed acknowledgements, joined in the middle: no scale of the window.
fn nagle() -> TimeSequence {
    let span = (SECOND, SECOND + 300 * MILLISECOND);
    let mut it = Writer::new(
        "a small segment waits for a delayed acknowledgement",
        Side::Client,
        span,
        70_120,
    );
    let mut nanos = span.0 + MILLISECOND;
    while nanos < span.1 {
        it.send(nanos, 44, "basic.publish", 1);
        it.acknowledge(nanos + 40 * MILLISECOND, it.offset, None);
        it.send(nanos + 40 * MILLISECOND + 90_000, 22, "header", 2);
        nanos += 40 * MILLISECOND + 800_000;
    }
    it.sequence
}

/// Large segments far below a large window.
fn loopback() -> TimeSequence {
    let span = (0, 40 * MILLISECOND);
    let mut it = Writer::new("the first segments", Side::Client, span, 0);
    for at in 0..4000 {
        it.send(at * 10 * MICROSECOND, 100 + at % 71, "basic.publish", 1);
        if at % 8 == 0 {
            it.acknowledge(at * 10 * MICROSECOND + 4000, it.offset, Some(it.offset + 3_100_000));
        }
    }
    it.sequence
}

pub(super) fn ladders() -> Vec<Ladder> {
    let steps = [
        (0, Side::Client, "channel.open", 13, None),
        (310, Side::Broker, "channel.open-ok", 16, Some(310)),
        (90, Side::Client, "confirm.select", 13, None),
        (120, Side::Broker, "confirm.select-ok", 12, Some(120)),
        (1_200, Side::Client, "basic.publish", 1_106, None),
        (44_100, Side::Client, "basic.publish", 1_106, None),
        (640, Side::Broker, "basic.ack", 21, Some(44_740)),
        (2_100_000, Side::Broker, "basic.deliver", 1_190, None),
        (16_000_000, Side::Client, "basic.ack", 21, Some(16_000_000)),
    ];
    let mut nanos = 0;
    let mut frames = Vec::new();
    for round in 0..6 {
        for (after, from, label, bytes, answers) in steps {
            nanos += after * MICROSECOND;
            frames.push(LadderFrame {
                nanos,
                from,
                label: label.to_owned(),
                bytes,
                packet: 12 + round * 100 + frames.len() as u64,
                answers_after_nanos: answers.map(|micros| micros * MICROSECOND),
            });
        }
    }
    let ladder = |channel, frames, left_out| Ladder {
        connection: "10.20.0.21:40004 -> 10.20.0.5:5672".to_owned(),
        channel,
        frames,
        left_out,
    };
    vec![ladder(1, frames.clone(), 20_310), ladder(2, frames[..9].to_vec(), 0)]
}
