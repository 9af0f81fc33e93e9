//! Reassembly of payloads in any order to bytes in order.

use std::collections::BTreeMap;

use super::{
    endpoints::Direction,
    limits::{Budget, Budgets, Limits},
    observer::{Output, TcpObserver},
    sequence::Place,
};
use crate::{
    packet::Timestamp,
    stream::{Chunk, Gap},
};

/// Memory of a held piece besides its bytes.
const PIECE_BYTES: usize = 128;

/// A payload, or a part of one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Payload<'a> {
    /// Number of its packet.
    pub(super) packet: u64,
    /// Start and end of its packet's payload.
    pub(super) segment: (Place, Place),
    /// Start of the part.
    pub(super) start: Place,
    /// End of the part, on the wire.
    pub(super) end: Place,
    /// Captured bytes of the part.
    pub(super) bytes: &'a [u8],
}

impl Payload<'_> {
    /// Returns the part between two places within it.
    fn part(&self, start: Place, end: Place) -> Self {
        let at = |place: Place| (bytes_between(self.start, place)).min(self.bytes.len());
        Self { start, end, bytes: &self.bytes[at(start)..at(end)], ..*self }
    }
}

/// A piece that waits for the bytes before it.
#[derive(Debug)]
struct Held {
    packet: u64,
    /// Capture time of that packet.
    time: Timestamp,
    segment: (Place, Place),
    end: Place,
    bytes: Box<[u8]>,
}

impl Held {
    fn cost(&self) -> usize {
        self.bytes.len() + PIECE_BYTES
    }
}

/// The bytes of a direction, delivered or held.
#[derive(Debug)]
pub(super) struct Reassembly {
    direction: Direction,
    /// Place up to which all bytes were delivered, or reported as a gap.
    next: Place,
    /// Held pieces by start. No two overlap.
    held: BTreeMap<Place, Held>,
    held_bytes: usize,
    /// Place up to which all bytes, holes included, were acknowledged at a time.
    acknowledged: Option<(Timestamp, Place)>,
    gaps: u64,
    gap_bytes: u64,
}

impl Reassembly {
    pub(super) fn new(direction: Direction) -> Self {
        Self {
            direction,
            next: 0,
            held: BTreeMap::new(),
            held_bytes: 0,
            acknowledged: None,
            gaps: 0,
            gap_bytes: 0,
        }
    }

    /// Returns the number of reported gaps, and of bytes in them.
    pub(super) const fn gaps(&self) -> (u64, u64) {
        (self.gaps, self.gap_bytes)
    }

    /// Returns whether the receiver has acknowledged bytes that were neither delivered nor reported as a gap.
    pub(super) const fn is_behind(&self, acknowledged: Place) -> bool {
        acknowledged > self.next
    }

    /// Returns the time since which there is a hole.
    pub(super) fn hole_since(&self) -> Option<Timestamp> {
        self.held.first_key_value().map(|(_, held)| held.time)
    }

    /// Takes a payload and delivers the bytes that are now in order. If bytes overlap, the earlier ones win. Returns
    /// the number of new bytes.
    pub(super) fn take<O: TcpObserver>(
        &mut self,
        payload: Payload<'_>,
        time: Timestamp,
        budgets: &mut Budgets,
        output: &mut Output<'_, O>,
    ) -> u64 {
        let mut new = 0;
        let mut at = payload.start.max(self.next);
        while at < payload.end {
            let (covered, free) = self.free_from(at);
            if covered > at {
                at = covered;
                continue;
            }
            let end = free.map_or(payload.end, |free| free.min(payload.end));
            new += bytes_between(at, end) as u64;
            self.take_piece(payload.part(at, end), time, budgets, output);
            // Pieces held behind it may have been delivered as well.
            at = end.max(self.next);
        }
        new
    }

    /// Abandons holes that the other end has acknowledged, and those that have lasted too long.
    pub(super) fn give_up_holes<O: TcpObserver>(
        &mut self,
        acknowledged: Option<Place>,
        time: Timestamp,
        budgets: &mut Budgets,
        output: &mut Output<'_, O>,
    ) {
        while self.is_hole_given_up(time, &budgets.limits) {
            self.give_up_hole(time, &mut budgets.held_bytes, output);
        }
        let Some((behind_hole, _)) = self.held.first_key_value() else {
            self.acknowledged = None;
            return;
        };
        // The earlier acknowledgement has not waited long enough yet, or is used up.
        let is_over = |(_, place): &(Timestamp, Place)| place < behind_hole;
        if self.acknowledged.as_ref().is_none_or(is_over) {
            let acknowledged = acknowledged.filter(|place| place >= behind_hole);
            self.acknowledged = acknowledged.map(|place| (time, place));
        }
    }

    /// Abandons all holes.
    pub(super) fn flush<O: TcpObserver>(
        &mut self,
        time: Timestamp,
        budgets: &mut Budgets,
        output: &mut Output<'_, O>,
    ) {
        while !self.held.is_empty() {
            self.give_up_hole(time, &mut budgets.held_bytes, output);
        }
    }

    /// Returns the end of the held bytes that cover `at`, and the start of the next held piece.
    fn free_from(&self, at: Place) -> (Place, Option<Place>) {
        if self.held.is_empty() {
            return (at, None);
        }
        let before = self.held.range(..=at).next_back();
        let covered = before.map_or(at, |(_, held)| held.end.max(at));
        (covered, self.held.range(at..).next().map(|(start, _)| *start))
    }

    /// Takes a piece with only new bytes.
    fn take_piece<O: TcpObserver>(
        &mut self,
        piece: Payload<'_>,
        time: Timestamp,
        budgets: &mut Budgets,
        output: &mut Output<'_, O>,
    ) {
        if piece.start == self.next {
            self.hand_on(&piece, time, output);
            self.hand_on_held(time, &mut budgets.held_bytes, output);
            return;
        }
        self.hold(&piece, time, &mut budgets.held_bytes);
        while self.is_over_limit(budgets) {
            self.give_up_hole(time, &mut budgets.held_bytes, output);
        }
    }

    fn hold(&mut self, piece: &Payload<'_>, time: Timestamp, budget: &mut Budget) {
        let Payload { packet, segment, start, end, bytes } = *piece;
        let held = Held { packet, time, segment, end, bytes: bytes.into() };
        self.held_bytes += held.cost();
        budget.take(held.cost());
        self.held.insert(start, held);
    }

    fn is_over_limit(&self, budgets: &Budgets) -> bool {
        !self.held.is_empty()
            && (self.held_bytes > budgets.limits.held_bytes
                || self.held.len() > budgets.limits.held_segments
                || budgets.held_bytes.is_exceeded())
    }

    fn is_hole_given_up(&self, time: Timestamp, limits: &Limits) -> bool {
        let Some((behind_hole, held)) = self.held.first_key_value() else { return false };
        let is_acknowledged = self.acknowledged.is_some_and(|(since, place)| {
            place >= *behind_hole && time.since(since) >= limits.reordering_patience
        });
        is_acknowledged || time.since(held.time) >= limits.hole_patience
    }

    fn give_up_hole<O: TcpObserver>(
        &mut self,
        time: Timestamp,
        budget: &mut Budget,
        output: &mut Output<'_, O>,
    ) {
        if let Some((behind_hole, _)) = self.held.first_key_value() {
            self.hand_on_gap(*behind_hole, time, output);
        }
        self.hand_on_held(time, budget, output);
    }

    /// Delivers the held pieces that have nothing missing before them. The rest is behind another hole.
    fn hand_on_held<O: TcpObserver>(
        &mut self,
        time: Timestamp,
        budget: &mut Budget,
        output: &mut Output<'_, O>,
    ) {
        while let Some(entry) = self.held.first_entry()
            && *entry.key() == self.next
        {
            let (start, held) = entry.remove_entry();
            self.held_bytes -= held.cost();
            budget.give_back(held.cost());
            let Held { packet, segment, end, bytes, time: captured } = held;
            // If packets are not in the order of their times, the later time counts.
            let time = time.max(captured);
            self.hand_on(&Payload { packet, segment, start, end, bytes: &bytes }, time, output);
        }
    }

    fn hand_on<O: TcpObserver>(
        &mut self,
        piece: &Payload<'_>,
        time: Timestamp,
        output: &mut Output<'_, O>,
    ) {
        if !piece.bytes.is_empty() {
            let chunk = Chunk {
                bytes: piece.bytes,
                offset: offset(piece.start),
                time,
                packet: piece.packet,
                segment_start: offset(piece.segment.0),
                segment_end: offset(piece.segment.1),
            };
            self.next = piece.start + place(piece.bytes.len());
            output.chunk(self.direction, chunk);
        }
        // The rest of the piece was not captured.
        self.hand_on_gap(piece.end, time, output);
    }

    fn hand_on_gap<O: TcpObserver>(
        &mut self,
        end: Place,
        time: Timestamp,
        output: &mut Output<'_, O>,
    ) {
        if end > self.next {
            let length = bytes_between(self.next, end) as u64;
            self.gaps += 1;
            self.gap_bytes += length;
            output.gap(self.direction, Gap { offset: offset(self.next), length, time });
            self.next = end;
        }
    }
}

/// Returns the number of bytes from a place to a later one.
fn bytes_between(start: Place, end: Place) -> usize {
    usize::try_from(end - start).unwrap_or(0)
}

fn place(bytes: usize) -> Place {
    Place::try_from(bytes).unwrap_or(Place::MAX)
}

/// Converts a place to a public offset. Bytes before the first byte that was seen get offset 0.
fn offset(place: Place) -> u64 {
    u64::try_from(place).unwrap_or(0)
}
