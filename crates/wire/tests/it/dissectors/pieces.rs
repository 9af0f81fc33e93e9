//! The pieces of the bytes do not change the frames. After a gap, the frames that are complete after it are found.

use rabbitscope_wire::protocols::Protocol;

use super::{
    built::{BODY, Built, SECRET, all, from_the_beginning},
    collected::{Collected, Fed, in_pieces},
};
use crate::talk::Random;

const SEEDS: u64 = 6;

#[test]
fn a_direction_in_one_piece() {
    for built in (0..SEEDS).flat_map(from_the_beginning) {
        let fed = in_pieces(&built.bytes, [].into_iter());
        assert_eq!(fed.collected.kinds(), built.frames, "{:?}", built.protocol);
        assert_eq!(fed.dissector.protocol(), Some(built.protocol));
        assert!(fed.dissector.is_opened());
        assert_eq!((fed.dissector.skipped_bytes(), fed.collected.losses), (0, 0));
        let end = built.bytes.len() as u64;
        assert!(built.sensitive.iter().all(|range| fed.collected.covers(range, end)));
        let last = fed.collected.frames.last().unwrap();
        assert_eq!((last.segments, last.packets), ((false, true), (1, 1)));
    }
}

#[test]
fn a_direction_split_at_every_byte() {
    for built in from_the_beginning(1) {
        let whole = in_pieces(&built.bytes, [].into_iter()).collected.contents();
        for at in 1..built.bytes.len() {
            let mut fed = Fed::new();
            fed.piece(&built.bytes[..at], 0);
            let end = at as u64;
            for range in &built.sensitive {
                assert!(
                    fed.collected.covers(range, end),
                    "{:?}: {range:?} at {at}",
                    built.protocol
                );
            }
            fed.piece(&built.bytes[at..], end);
            assert_eq!(fed.collected.contents(), whole, "{:?} at {at}", built.protocol);
            for frame in &fed.collected.frames {
                let packet = |place: u64| if place < end { 1 } else { 2 };
                assert_eq!(frame.packets, (packet(frame.range.start), packet(frame.range.end - 1)));
            }
        }
    }
}

#[test]
fn a_direction_in_pieces_of_any_size() {
    for seed in 0..SEEDS {
        for built in from_the_beginning(seed) {
            let whole = in_pieces(&built.bytes, [].into_iter()).collected.contents();
            let single = in_pieces(&built.bytes, 1..built.bytes.len());
            assert_without_secrets(&without_values(&built.bytes, &single.collected));
            assert_eq!(single.collected.contents(), whole, "{:?}, byte by byte", built.protocol);
            let mut random = Random(seed);
            let mut end = 0;
            let ends: Vec<usize> = core::iter::from_fn(|| {
                end += 1 + random.below(60);
                Some(end).filter(|end| *end < built.bytes.len())
            })
            .collect();
            let fed = in_pieces(&built.bytes, ends.into_iter());
            assert_eq!(fed.collected.contents(), whole, "{:?}, seed {seed}", built.protocol);
            let end = built.bytes.len() as u64;
            assert!(built.sensitive.iter().all(|range| fed.collected.covers(range, end)));
        }
    }
}

#[test]
fn frames_are_found_again_after_a_gap_at_every_place() {
    for (seed, length) in [(1, 1), (2, 60)] {
        for built in all(seed) {
            for at in 0..built.bytes.len() - length {
                check_gap(&built, at, length);
            }
        }
    }
}

fn check_gap(built: &Built, at: usize, length: usize) {
    let (start, end) = (at as u64, (at + length) as u64);
    let mut fed = Fed::new();
    if at > 0 {
        fed.piece(&built.bytes[..at], 0);
    }
    let is_known = fed.dissector.protocol().is_some();
    fed.gap(start, length as u64);
    fed.piece(&built.bytes[at + length..], end);
    if built.protocol == Protocol::Mqtt && !is_known {
        // MQTT packets are searched only at the start of segments.
        return;
    }
    let place = format!("{:?} at {at}, {length} bytes", built.protocol);
    // A frame that misses only skipped bytes is complete as well.
    let bridged = |range: &core::ops::Range<u64>| range.start < start && range.end >= end;
    let is_whole = |range: &core::ops::Range<u64>| range.end <= start || range.start >= end;
    let mut expected = built.frames.clone();
    expected.retain(|(range, _)| is_whole(range));
    let mut found = fed.collected.kinds();
    found.retain(|(range, _)| !bridged(range));
    let after = expected.iter().filter(|(range, _)| range.start >= end).count();
    let running = if matches!(built.protocol, Protocol::Mqtt | Protocol::Tls) { 3 } else { 2 };
    if after < running && found.len() + after == expected.len() {
        return;
    }
    assert_eq!(found, expected, "{place}");
    for range in built.sensitive.iter().filter(|range| is_whole(range)) {
        assert!(fed.collected.covers(range, u64::MAX), "{place}: {range:?}");
    }
}

#[test]
fn frames_are_found_in_the_middle_of_a_connection() {
    for built in all(3) {
        for at in 60..built.bytes.len() / 2 {
            let offset = at as u64;
            let mut fed = Fed::new();
            // Most segments begin with a frame; MQTT packets are searched only there.
            let frame = built.frames.iter().find(|(range, _)| range.start >= offset).unwrap();
            let begin = usize::try_from(frame.0.start).unwrap();
            fed.piece(&built.bytes[at..begin.max(at + 1)], 0);
            fed.piece(&built.bytes[begin.max(at + 1)..], begin.max(at + 1) as u64 - offset);
            let expected = built.frames.iter().filter(|(range, _)| range.start >= offset);
            let shifted: Vec<_> = expected
                .map(|(range, kind)| (range.start - offset..range.end - offset, *kind))
                .collect();
            if built.protocol == Protocol::Mqtt && begin == at {
                continue;
            }
            assert_eq!(fed.collected.kinds(), shifted, "{:?} at {at}", built.protocol);
            assert!(!fed.dissector.is_opened());
            assert_eq!(fed.dissector.skipped_bytes(), (begin - at) as u64);
        }
    }
}

#[test]
fn any_bytes_are_borne() {
    for seed in 0..400 {
        let mut random = Random(seed);
        let mut bytes: Vec<u8> = match seed % 4 {
            0 => random.bytes(2000),
            // Few distinct values, so that more of them look like frames.
            1 => (0..2000).map(|_| [0, 1, 2, 3, 8, 0xce, 60, 0x53][random.below(8)]).collect(),
            _ => all(seed).into_iter().nth(random.below(5)).unwrap().bytes,
        };
        if seed % 4 > 1 {
            for _ in 0..20 {
                let at = random.below(bytes.len());
                bytes[at] = random.bytes(1)[0];
            }
        }
        let mut fed = Fed::new();
        let mut from = 0;
        while from < bytes.len() {
            let end = bytes.len().min(from + 1 + random.below(200));
            if random.below(10) == 0 {
                fed.gap(from as u64, (end - from) as u64);
            } else {
                fed.piece(&bytes[from..end], from as u64);
            }
            from = end;
        }
        let ends: Vec<u64> = fed.collected.frames.iter().map(|frame| frame.range.end).collect();
        assert!(ends.is_sorted(), "seed {seed}: frames in their order");
        assert!(fed.collected.frames.iter().all(|frame| !frame.range.is_empty()));
        assert!(fed.dissector.skipped_bytes() <= bytes.len() as u64, "seed {seed}");
    }
}

#[test]
fn what_is_told_to_be_sensitive_can_be_blanked() {
    for built in (0..SEEDS).flat_map(from_the_beginning) {
        let fed = in_pieces(&built.bytes, [].into_iter());
        let blanked = without_values(&built.bytes, &fed.collected);
        assert_without_secrets(&blanked);
        assert_eq!(in_pieces(&blanked, [].into_iter()).collected.kinds(), built.frames);
    }
}

#[track_caller]
fn assert_without_secrets(bytes: &[u8]) {
    let holds = |word: &[u8]| bytes.windows(word.len()).any(|window| window == word);
    assert!(!holds(SECRET) && !holds(BODY));
}

fn without_values(bytes: &[u8], told: &Collected) -> Vec<u8> {
    let mut blanked = bytes.to_owned();
    for (range, _) in &told.sensitive {
        let range = usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap();
        blanked[range].fill(0);
    }
    blanked
}
