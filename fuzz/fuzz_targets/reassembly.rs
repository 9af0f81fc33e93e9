//! Segments of a few connections in any order, from ten bytes each: chunks and gaps follow one another, no more is read
//! than was captured, every byte is counted once, and nothing is left at the end.
#![no_main]

use core::net::SocketAddr;

use libfuzzer_sys::fuzz_target;
use rabbitscope_wire::{
    packet::Timestamp,
    segment::{Segment, TcpFlags, TcpOptions},
    stream::{Chunk, Gap},
    tcp::{ConnectionId, ConnectionSummary, Connections, Direction, Limits, TcpObserver},
};

#[derive(Default)]
struct Checker {
    /// Places up to which each direction was handed on.
    ends: Vec<[u64; 2]>,
    bytes: u64,
}

impl Checker {
    fn go_on(&mut self, connection: ConnectionId, direction: Direction, from: u64, to: u64) {
        let connection = connection.0 as usize;
        self.ends.resize(self.ends.len().max(connection + 1), [0; 2]);
        let end = &mut self.ends[connection][usize::from(direction == Direction::Reverse)];
        assert_eq!(*end, from);
        *end = to;
    }
}

impl TcpObserver for Checker {
    fn chunk(&mut self, connection: ConnectionId, direction: Direction, chunk: Chunk<'_>) {
        let length = chunk.bytes.len() as u64;
        assert!(length > 0);
        self.go_on(connection, direction, chunk.offset, chunk.offset + length);
        assert!(chunk.segment_start <= chunk.offset);
        assert!(chunk.segment_end >= chunk.offset + length);
        self.bytes += length;
    }

    fn gap(&mut self, connection: ConnectionId, direction: Direction, gap: Gap) {
        assert!(gap.length > 0);
        self.go_on(connection, direction, gap.offset, gap.offset + gap.length);
    }

    fn ended(&mut self, _: ConnectionId, summary: &ConnectionSummary) {
        for figures in [&summary.forward, &summary.reverse] {
            let seen =
                figures.unique_bytes + figures.retransmitted_bytes + figures.bytes_before_start;
            assert_eq!(seen, figures.data_bytes);
        }
    }
}

/// Segment by segment: flags and direction, sequence number, acknowledgement, length and captured part, time, window.
fn segments(bytes: &[u8], mut take: impl FnMut(&Segment<'_>)) {
    let ends: [SocketAddr; 3] =
        [([10, 0, 0, 1], 1).into(), ([10, 0, 0, 2], 5672).into(), ([10, 0, 0, 3], 3).into()];
    let mut nanos = 0;
    for (fields, packet) in bytes.chunks_exact(10).zip(1..) {
        // Near the place where sequence numbers start again, but for the largest steps.
        let number = |low: u8, high: u8| {
            let offset = u32::from(low) | (u32::from(high) & 0x7f) << 8;
            if high & 0x80 == 0 { offset.wrapping_sub(100) } else { offset << 17 }
        };
        let sequence = number(fields[1], fields[2]);
        let payload_length = u32::from(fields[5]);
        let payload = vec![0; usize::from(fields[5].min(fields[6]))];
        nanos += u64::from(fields[7]) << (fields[8] % 32);
        let client = ends[usize::from(fields[0] & 0x40 != 0) * 2];
        let (from, to) = if fields[0] & 0x80 == 0 { (client, ends[1]) } else { (ends[1], client) };
        take(&Segment {
            packet,
            time: Timestamp::from_unix_nanos(nanos),
            packet_length: payload_length + 54,
            from,
            to,
            sequence,
            acknowledgement: number(fields[3], fields[4]),
            flags: TcpFlags(fields[0] & 0x1f),
            window: u16::from(fields[9]),
            options: TcpOptions::default(),
            payload_length,
            payload: &payload,
        });
    }
}

fuzz_target!(|bytes: &[u8]| {
    let limits = Limits {
        connections: 2,
        held_bytes: 4096,
        held_segments: 20,
        held_bytes_in_total: 6000,
        timed_segments: 16,
        timed_segments_in_total: 24,
        ..Limits::default()
    };
    let (mut connections, mut checker) = (Connections::new(limits), Checker::default());
    let mut captured = 0;
    segments(bytes, |segment| {
        captured += segment.payload.len() as u64;
        connections.segment(segment, &mut checker);
    });
    connections.finish(&mut checker);
    assert_eq!(connections.counts().current, 0);
    assert!(checker.bytes <= captured);
});
