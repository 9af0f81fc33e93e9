//! Streams that are cut, reordered, repeated and overlapped yield the bytes that were sent, or report the missing ones.

use std::time::Duration;

use rabbitscope_wire::tcp::{ConnectionEnd, Limits};

use crate::talk::{FIN, RST, Random, SYN, Seen, Sent, Talk};

/// Beginnings of streams: 0, numbers that wrap soon, and others.
const BEGINNINGS: [u32; 4] = [0, u32::MAX - 30, u32::MAX, 0x7fff_ffe0];

/// Plays segments of a client after its SYN and returns the bytes that were read.
fn read(beginning: u32, segments: &[(usize, &[u8])]) -> Seen {
    let mut talk = Talk::new(Limits::default());
    talk.client(Sent { sequence: beginning.wrapping_sub(1), flags: SYN, ..Sent::default() });
    for (start, payload) in segments {
        let sequence = beginning.wrapping_add(u32::try_from(*start).unwrap());
        talk.client(Sent::payload(sequence, payload));
    }
    talk.finish()
}

fn forward(seen: &Seen) -> &crate::talk::Bytes {
    &seen.bytes[0][0]
}

#[test]
fn a_stream_that_is_cut_anywhere() {
    let stream = Random(1).bytes(40);
    for beginning in BEGINNINGS {
        for first in 0..stream.len() {
            for second in first..stream.len() {
                let cut = [0..first, first..second, second..stream.len()];
                for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
                    let segments =
                        order.map(|index| (cut[index].start, &stream[cut[index].clone()]));
                    let seen = read(beginning, &segments);
                    assert_eq!(forward(&seen).read, stream);
                    assert_eq!(forward(&seen).gaps, []);
                }
            }
        }
    }
}

/// Returns segments that cover a stream, some of it more than once. No segment is further than `reach` from its
/// position in order.
fn shuffled<'a>(random: &mut Random, stream: &'a [u8], reach: usize) -> Vec<(usize, &'a [u8])> {
    let mut segments = Vec::new();
    let mut start = 0;
    while start < stream.len() {
        let end = (start + 1 + random.below(30)).min(stream.len());
        segments.push((start, &stream[start..end]));
        if random.below(3) == 0 {
            // Repeats bytes from before or after its beginning, up to any offset.
            let from = (start + random.below(20)).saturating_sub(10).min(stream.len() - 1);
            let to = (from + 1 + random.below(60)).min(stream.len());
            segments.push((from, &stream[from..to]));
        }
        start = end;
    }
    for at in 0..segments.len() {
        let other = (at + random.below(reach)).min(segments.len() - 1);
        segments.swap(at, other);
    }
    segments
}

#[test]
fn a_stream_in_any_order_with_repetitions_and_overlaps() {
    for seed in 0..400 {
        let mut random = Random(seed);
        let stream = random.bytes(2000);
        let segments = shuffled(&mut random, &stream, 1 + usize::try_from(seed).unwrap() % 60);
        let seen = read(BEGINNINGS[random.below(4)], &segments);
        assert_eq!(forward(&seen).read, stream, "seed {seed}");
        let figures = &seen.summaries[0].1.forward;
        let sent: usize = segments.iter().map(|(_, payload)| payload.len()).sum();
        assert_eq!(figures.unique_bytes, 2000);
        assert_eq!(figures.data_bytes, sent as u64);
        assert_eq!(figures.retransmitted_bytes, sent as u64 - 2000);
    }
}

/// If two segments contradict each other about the same offset, the earlier one is read.
#[test]
fn first_bytes_win() {
    for seed in 0..400 {
        let mut random = Random(seed);
        let length = 600;
        let streams = [random.bytes(length), random.bytes(length), random.bytes(length)];
        let mut expected = vec![None; length];
        let mut segments = Vec::new();
        while expected.contains(&None) {
            let start = random.below(length);
            let end = (start + 1 + random.below(50)).min(length);
            let payload = &streams[random.below(3)][start..end];
            segments.push((start, payload));
            for (place, byte) in expected[start..end].iter_mut().zip(payload) {
                place.get_or_insert(*byte);
            }
        }
        let seen = read(BEGINNINGS[random.below(4)], &segments);
        let expected: Vec<u8> = expected.into_iter().flatten().collect();
        assert_eq!(forward(&seen).read, expected, "seed {seed}");
    }
}

#[test]
fn who_joins_in_the_middle_reads_the_rest() {
    let stream = Random(7).bytes(100);
    for beginning in BEGINNINGS {
        let mut talk = Talk::new(Limits::default());
        // An acknowledgement alone, or a probe, defines no beginning.
        talk.client(Sent::payload(beginning.wrapping_add(29), &[]));
        for (start, end) in [(30, 50), (60, 100), (10, 30), (40, 60)] {
            let sequence = beginning.wrapping_add(u32::try_from(start).unwrap());
            talk.client(Sent::payload(sequence, &stream[start..end]));
        }
        let seen = talk.finish();
        assert_eq!(forward(&seen).read, stream[30..]);
        let figures = &seen.summaries[0].1.forward;
        assert_eq!((figures.bytes_before_start, figures.unique_bytes), (20, 70));
        assert!(!seen.endpoints[0].opener_is_known);
    }
}

#[test]
fn places_go_on_beyond_4_gib() {
    let mut talk = Talk::opened(Limits::default(), None);
    let mut sequence = 1000_u32;
    for _ in 0..75_000 {
        talk.client(Sent { not_captured: 60_000, ..Sent::payload(sequence, b"beginning") });
        sequence = sequence.wrapping_add(60_009);
    }
    let seen = talk.finish();
    assert_eq!(forward(&seen).end, 75_000 * 60_009);
    assert_eq!(forward(&seen).read.len(), 75_000 * 9);
    assert_eq!(seen.summaries[0].1.forward.retransmitted_bytes, 0);
}

#[test]
fn what_was_not_captured_is_a_gap() {
    let mut talk = Talk::opened(Limits::default(), None);
    talk.client(Sent { not_captured: 6, ..Sent::payload(1000, b"0123") });
    // Bytes after a hole may be cut off as well.
    talk.client(Sent { not_captured: 3, ..Sent::payload(1015, b"ab") });
    talk.client(Sent::payload(1010, b"56789"));
    talk.client(Sent::payload(1020, b"end"));
    let seen = talk.finish();
    assert_eq!(forward(&seen).read, b"012356789abend");
    assert_eq!(forward(&seen).gaps, [(4, 6), (17, 3)]);
    let figures = &seen.summaries[0].1.forward;
    assert_eq!((figures.gaps, figures.gap_bytes, figures.unique_bytes), (2, 9, 23));
}

/// Bytes that the receiver has acknowledged are not retransmitted: the capture has lost them.
#[test]
fn a_hole_is_given_up_once_it_is_acknowledged() {
    let mut talk = Talk::opened(Limits::default(), None);
    talk.client(Sent::payload(1000, b"one"));
    talk.client(Sent::payload(1006, b"three"));
    // The acknowledgement ends within the hole.
    talk.broker(Sent { sequence: 5000, acknowledgement: Some(1005), ..Sent::window(9) });
    talk.broker(Sent { sequence: 5000, acknowledgement: Some(1005), ..Sent::window(9) });
    assert_eq!(forward(&talk.seen).gaps, []);
    talk.broker(Sent { sequence: 5000, acknowledgement: Some(1011), ..Sent::window(9) });
    assert_eq!(forward(&talk.seen).gaps, [], "what follows may be in the wrong order only");
    talk.broker(Sent { sequence: 5000, acknowledgement: Some(1011), ..Sent::window(9) });
    assert_eq!(forward(&talk.seen).gaps, [(3, 3)]);
    assert_eq!(forward(&talk.seen).read, b"onethree");
    // The bytes arrive too late.
    talk.client(Sent::payload(1003, b"two"));
    assert_eq!(forward(&talk.finish()).read, b"onethree");
}

#[test]
fn an_acknowledgement_that_was_captured_first_costs_nothing() {
    let mut talk = Talk::opened(Limits::default(), None);
    talk.broker(Sent { sequence: 5000, acknowledgement: Some(1006), ..Sent::window(9) });
    talk.client(Sent::payload(1003, b"two"));
    talk.client(Sent::payload(1000, b"one"));
    assert_eq!(forward(&talk.seen).read, b"onetwo");
}

#[test]
fn holes_are_bounded() {
    let check = |limits: Limits| {
        let mut talk = Talk::opened(limits, None);
        for at in 0..200 {
            talk.client(Sent::payload(1000 + 20 * at, b"0123456789"));
        }
        let known = talk.seen.bytes[0][0].read.len();
        // Some segments must be waiting, but not all.
        assert!((1000..1950).contains(&known), "{known}");
        let seen = talk.finish();
        assert_eq!(forward(&seen).read.len(), 2000);
        assert_eq!(forward(&seen).gaps.len(), 199);
    };
    let limits = Limits::default();
    check(Limits { held_segments: 20, ..limits });
    check(Limits { held_bytes: 20 * 138, ..limits });
    check(Limits { held_bytes_in_total: 20 * 138, ..limits });
    check(Limits { hole_patience: Duration::from_millis(20), ..limits });
}

#[test]
fn a_syn_with_another_number_is_another_connection() {
    let mut talk = Talk::opened(Limits::default(), None);
    talk.client(Sent::payload(1000, b"old"));
    // A repetition of the same SYN begins no new connection; neither does the other end's SYN.
    talk.client(Sent { sequence: 999, flags: SYN, ..Sent::default() });
    talk.broker(Sent {
        sequence: 4999,
        flags: SYN,
        acknowledgement: Some(1000),
        ..Sent::default()
    });
    assert_eq!(talk.connections.counts().seen, 1);
    talk.client(Sent { sequence: 77_777, flags: SYN, ..Sent::default() });
    talk.client(Sent::payload(77_778, b"new"));
    let seen = talk.finish();
    assert_eq!(
        seen.bytes.iter().map(|sides| &sides[0].read[..]).collect::<Vec<_>>(),
        [b"old", b"new"]
    );
    let ends: Vec<ConnectionEnd> = seen.summaries.iter().map(|(_, summary)| summary.end).collect();
    assert_eq!(ends, [ConnectionEnd::Replaced, ConnectionEnd::Captured]);
}

/// The SYN was captured after its answer.
#[test]
fn a_late_syn_belongs_to_its_connection() {
    let mut talk = Talk::new(Limits::default());
    talk.broker(Sent {
        sequence: 4999,
        flags: SYN,
        acknowledgement: Some(1000),
        ..Sent::default()
    });
    talk.client(Sent { sequence: 999, flags: SYN, ..Sent::default() });
    talk.client(Sent::payload(1000, b"AMQP"));
    let (client, broker) = (talk.client, talk.broker);
    let seen = talk.finish();
    assert_eq!(seen.summaries.len(), 1);
    assert_eq!((seen.endpoints[0].opener, seen.endpoints[0].acceptor), (client, broker));
    assert_eq!(forward(&seen).read, b"AMQP");
}

#[test]
fn the_connection_that_is_idle_for_longest_goes() {
    let mut talk = Talk::new(Limits { connections: 3, ..Limits::default() });
    for port in [1001, 1002, 1003, 1001, 1004, 1005] {
        talk.client.set_port(port);
        talk.client(Sent::payload(1000, b"0"));
        if port == 1003 {
            talk.client(Sent { sequence: 1001, flags: RST, ..Sent::default() });
        }
    }
    let counts = talk.connections.counts();
    // One of the two evicted connections was closed.
    assert_eq!((counts.seen, counts.current, counts.evicted), (5, 3, 1));
    let seen = talk.finish();
    let ports: Vec<u16> =
        seen.summaries.iter().map(|(_, summary)| summary.endpoints.opener.port()).collect();
    assert_eq!(ports, [1002, 1003, 1001, 1004, 1005]);
}

#[test]
fn syn_and_fin_are_no_bytes() {
    let mut talk = Talk::opened(Limits::default(), None);
    talk.client(Sent { flags: FIN, ..Sent::payload(1000, b"bye") });
    talk.broker(Sent {
        sequence: 5000,
        flags: FIN,
        acknowledgement: Some(1004),
        ..Sent::window(9)
    });
    talk.client(Sent { flags: FIN, ..Sent::payload(1000, b"bye") });
    let seen = talk.finish();
    assert_eq!(forward(&seen).read, b"bye");
    let summary = &seen.summaries[0].1;
    assert!(summary.is_closed());
    assert_eq!(summary.forward.retransmitted_segments, 1);
    assert_eq!(summary.forward.fin.unwrap().unix_nanos(), 4_000_000);
}
