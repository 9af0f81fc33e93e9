//! Redaction of written packets: credentials always, bodies of messages unless you ask for them.

use core::ops::Range;

use crate::{
    protocols::{Sensitive, SensitiveKind},
    report::Side,
    stream::Chunk,
};

/// The part of packets that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payload {
    /// Everything except credentials, bodies, other values of applications, and unrecognized bytes.
    WithoutBodies,
    /// Everything except credentials and unrecognized bytes.
    WithBodies,
}

/// Sensitive bytes of one direction, of which some may still come.
#[derive(Clone, Debug, Default)]
pub(super) struct SensitiveRanges(Vec<Range<u64>>);

impl SensitiveRanges {
    fn add(&mut self, range: Range<u64>) {
        self.0.push(range);
    }

    /// Returns the ranges that touch bytes from `from` to `to`, and removes earlier ones.
    fn within(&mut self, from: u64, to: u64) -> impl Iterator<Item = Range<u64>> {
        self.0.retain(|range| range.end > from);
        self.0
            .iter()
            .map(move |range| range.start.max(from)..range.end.min(to))
            .filter(|range| range.start < range.end)
    }
}

/// The writable bytes in the payload of the current packet.
#[derive(Debug)]
pub(super) struct Redaction {
    payload: Payload,
    packet: u64,
    /// Bytes of the payload that came in order and were recognized.
    known: Vec<Range<u64>>,
    /// Bytes among them that are not written.
    blank: Vec<Range<u64>>,
}

impl Redaction {
    pub(super) const fn new(payload: Payload) -> Self {
        Self { payload, packet: 0, known: Vec::new(), blank: Vec::new() }
    }

    /// Begins the next packet.
    pub(super) fn begin(&mut self, packet: u64) {
        self.packet = packet;
        self.known.clear();
        self.blank.clear();
    }

    /// Records bytes that a dissector reports as sensitive.
    pub(super) fn sensitive(&self, ranges: &mut [SensitiveRanges; 2], sensitive: &Sensitive) {
        let is_body = sensitive.kind == SensitiveKind::Body;
        if !(is_body && self.payload == Payload::WithBodies) {
            ranges[sensitive.sender as usize].add(sensitive.range.clone());
        }
    }

    /// Records a chunk after a dissector has read it. Chunks of earlier packets, which waited behind a hole, were
    /// already written.
    pub(super) fn chunk(
        &mut self,
        ranges: &mut [SensitiveRanges; 2],
        sender: Side,
        chunk: &Chunk<'_>,
    ) {
        let end = chunk.offset + chunk.bytes.len() as u64;
        let in_payload =
            |range: Range<u64>| range.start - chunk.segment_start..range.end - chunk.segment_start;
        let touched = ranges[sender as usize].within(chunk.offset, end);
        if chunk.packet == self.packet {
            self.blank.extend(touched.map(in_payload));
            self.known.push(in_payload(chunk.offset..end));
        }
    }

    /// Overwrites bytes of the payload that must not be written with zeros. These are the sensitive ones, and those
    /// that did not come in order, such as retransmissions, because their content is unknown.
    pub(super) fn apply(&self, payload: &mut [u8]) {
        let mut next = 0;
        for known in &self.known {
            blank(payload, next..known.start);
            next = known.end;
        }
        blank(payload, next..payload.len() as u64);
        self.blank.iter().for_each(|range| blank(payload, range.clone()));
    }
}

fn blank(payload: &mut [u8], range: Range<u64>) {
    let place = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX).min(payload.len());
    let (start, end) = (place(range.start), place(range.end));
    if start < end {
        payload[start..end].fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Timestamp;

    fn chunk(bytes: &[u8], offset: u64) -> Chunk<'_> {
        Chunk {
            bytes,
            offset,
            time: Timestamp::default(),
            packet: 7,
            segment_start: 100,
            segment_end: 110,
        }
    }

    fn check(
        payload: Payload,
        told: &[(Range<u64>, SensitiveKind)],
        chunks: &[(u64, usize)],
        expected: &str,
    ) {
        let mut redaction = Redaction::new(payload);
        let mut ranges = <[SensitiveRanges; 2]>::default();
        let bytes = *b"0123456789";
        redaction.begin(7);
        for (range, kind) in told {
            let sensitive = Sensitive { sender: Side::Client, range: range.clone(), kind: *kind };
            redaction.sensitive(&mut ranges, &sensitive);
        }
        for (offset, length) in chunks {
            redaction.chunk(&mut ranges, Side::Client, &chunk(&bytes[..*length], *offset));
        }
        let mut written = bytes;
        redaction.apply(&mut written);
        let shown: String =
            written.map(|byte| if byte == 0 { '.' } else { char::from(byte) }).iter().collect();
        assert_eq!(shown, expected);
    }

    #[test]
    fn bodies_and_credentials_are_blank() {
        use SensitiveKind::{Body, Credentials, Unrecognized};
        let whole = [(100, 10)];
        check(Payload::WithoutBodies, &[], &whole, "0123456789");
        check(Payload::WithoutBodies, &[(102..104, Body)], &whole, "01..456789");
        check(Payload::WithBodies, &[(102..104, Body)], &whole, "0123456789");
        check(Payload::WithBodies, &[(102..104, Credentials)], &whole, "01..456789");
        check(Payload::WithBodies, &[(90..101, Unrecognized)], &whole, ".123456789");
        check(Payload::WithBodies, &[(108..1000, Credentials)], &whole, "01234567..");
    }

    #[test]
    fn what_did_not_come_in_order_is_blank() {
        check(Payload::WithBodies, &[], &[], "..........");
        check(Payload::WithBodies, &[], &[(104, 6)], "....456789");
        check(Payload::WithBodies, &[], &[(100, 3), (103, 2)], "01234.....");
    }
}
