//! A dissector's results, kept for comparison.

use core::ops::Range;

use rabbitscope_wire::{
    packet::Timestamp,
    protocols::{
        Details, Dissector, Frame, FrameSink, IdentifierRun, Loss, Sensitive, SensitiveKind,
        Skipped,
    },
    report::Side,
    stream::{Chunk, Gap},
};

/// A frame without the numbers of its packets, which depend on the pieces.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Seen {
    pub(super) range: Range<u64>,
    pub(super) kind: &'static str,
    pub(super) channel: u16,
    pub(super) details: Details,
    pub(super) identifiers: Vec<IdentifierRun>,
    pub(super) packets: (u64, u64),
    pub(super) segments: (bool, bool),
    pub(super) missing_bytes: u64,
}

#[derive(Default)]
pub(super) struct Collected {
    pub(super) frames: Vec<Seen>,
    pub(super) sensitive: Vec<(Range<u64>, SensitiveKind)>,
    pub(super) losses: usize,
    pub(super) skipped: Vec<Range<u64>>,
}

impl FrameSink for Collected {
    fn frame(&mut self, frame: &Frame<'_>) {
        let place = &frame.place;
        self.frames.push(Seen {
            range: place.start..place.end,
            kind: frame.kind,
            channel: frame.channel,
            details: frame.details,
            identifiers: frame.identifiers.to_vec(),
            packets: (place.first_packet, place.last_packet),
            segments: (place.begins_segment, place.ends_segment),
            missing_bytes: place.missing_bytes,
        });
    }

    fn sensitive(&mut self, sensitive: &Sensitive) {
        self.sensitive.push((sensitive.range.clone(), sensitive.kind));
    }

    fn lost(&mut self, _: &Loss) {
        self.losses += 1;
    }

    fn found(&mut self, skipped: &Skipped) {
        self.skipped.push(skipped.range.clone());
    }
}

impl Collected {
    pub(super) fn kinds(&self) -> Vec<(Range<u64>, &'static str)> {
        self.frames.iter().map(|frame| (frame.range.clone(), frame.kind)).collect()
    }

    /// Returns the frames without the properties that depend on the pieces.
    pub(super) fn contents(&self) -> Vec<Seen> {
        let without_pieces =
            |frame: &Seen| Seen { packets: (0, 0), segments: (false, false), ..frame.clone() };
        self.frames.iter().map(without_pieces).collect()
    }

    /// Returns whether every byte of the range before `end` was reported.
    pub(super) fn covers(&self, range: &Range<u64>, end: u64) -> bool {
        (range.start..range.end.min(end))
            .all(|at| self.sensitive.iter().any(|(told, _)| told.contains(&at)))
    }
}

/// Bytes in pieces, each of which is a packet.
pub(super) struct Fed {
    pub(super) dissector: Dissector,
    pub(super) collected: Collected,
    packet: u64,
}

impl Fed {
    pub(super) fn new() -> Self {
        let collected = Collected::default();
        Self { dissector: Dissector::new(Side::Client), collected, packet: 0 }
    }

    pub(super) fn piece(&mut self, bytes: &[u8], offset: u64) {
        self.packet += 1;
        let (segment_start, segment_end) = (offset, offset + bytes.len() as u64);
        let time = Timestamp::from_unix_nanos(self.packet);
        let packet = self.packet;
        let chunk = Chunk { bytes, offset, time, packet, segment_start, segment_end };
        self.dissector.chunk(&chunk, &mut self.collected);
    }

    pub(super) fn gap(&mut self, offset: u64, length: u64) {
        let time = Timestamp::from_unix_nanos(self.packet);
        self.dissector.gap(&Gap { offset, length, time }, &mut self.collected);
    }
}

/// Feeds all bytes in pieces that end at these offsets.
pub(super) fn in_pieces(bytes: &[u8], ends: impl Iterator<Item = usize>) -> Fed {
    let mut fed = Fed::new();
    let mut from = 0;
    for end in ends.chain([bytes.len()]) {
        if end > from {
            fed.piece(&bytes[from..end], from as u64);
            from = end;
        }
    }
    fed
}
