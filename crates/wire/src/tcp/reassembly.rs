//! Payloads in any order ─► bytes in order.

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

/// What a piece that is held takes besides its bytes.
const PIECE_BYTES: usize = 128;

/// A payload, or a part of one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Payload<'a> {
    /// Number of its packet.
    pub(super) packet: u64,
    /// Where its packet's payload begins and ends.
    pub(super) segment: (Place, Place),
    /// Where it begins.
    pub(super) start: Place,
    /// Where it ends, on the wire.
    pub(super) end: Place,
    /// What was captured of it.
    pub(super) bytes: &'a [u8],
}

impl Payload<'_> {
    /// The part between two places within it.
    fn part(&self, start: Place, end: Place) -> Self {
        let at = |place: Place| (bytes_between(self.start, place)).min(self.bytes.len());
        Self { start, end, bytes: &self.bytes[at(start)..at(end)], ..*self }
    }
}

/// A piece that waits for what is before it.
#[derive(Debug)]
struct Held {
    packet: u64,
    /// When that packet was captured.
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

/// The bytes of a direction: which were handed on, and which wait.
#[derive(Debug)]
pub(super) struct Reassembly {
    direction: Direction,
    /// What is before was handed on, or given up.
    next: Place,
    /// By where they begin. None overlaps another.
    held: BTreeMap<Place, Held>,
    held_bytes: usize,
    /// Up to where everything was acknowledged at a time, holes included.
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

    /// Gaps that were handed on, and bytes in them.
    pub(super) const fn gaps(&self) -> (u64, u64) {
        (self.gaps, self.gap_bytes)
    }

    /// Whether bytes before a place, which the receiver has, were neither handed on nor given up.
    pub(super) const fn is_behind(&self, acknowledged: Place) -> bool {
        acknowledged > self.next
    }

    /// Since when there is a hole.
    pub(super) fn hole_since(&self) -> Option<Timestamp> {
        self.held.first_key_value().map(|(_, held)| held.time)
    }

    /// Takes a payload and hands on what can be read now. Bytes that were taken before win over later ones. Gives how
    /// many bytes are new.
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
            // What was held behind it may have been handed on as well.
            at = end.max(self.next);
        }
        new
    }

    /// Gives up holes that the other end has acknowledged, and those that have been there for too long.
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
        // What was acknowledged before did not wait long enough yet, or is used up.
        let is_over = |(_, place): &(Timestamp, Place)| place < behind_hole;
        if self.acknowledged.as_ref().is_none_or(is_over) {
            let acknowledged = acknowledged.filter(|place| place >= behind_hole);
            self.acknowledged = acknowledged.map(|place| (time, place));
        }
    }

    /// Gives up all holes.
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

    /// Up to where bytes at a place and behind it are held, and where the next held ones begin.
    fn free_from(&self, at: Place) -> (Place, Option<Place>) {
        if self.held.is_empty() {
            return (at, None);
        }
        let before = self.held.range(..=at).next_back();
        let covered = before.map_or(at, |(_, held)| held.end.max(at));
        (covered, self.held.range(at..).next().map(|(start, _)| *start))
    }

    /// Takes a piece of which nothing was taken before.
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

    /// Hands on what is held and has nothing missing before it. What remains is behind another hole.
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
            // Where packets stand in another order than that of their times, the later one counts.
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
        // The rest of it was not captured.
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

/// Bytes from a place to a later one.
fn bytes_between(start: Place, end: Place) -> usize {
    usize::try_from(end - start).unwrap_or(0)
}

fn place(bytes: usize) -> Place {
    Place::try_from(bytes).unwrap_or(Place::MAX)
}

/// A place as others have it; what was before the first byte is at it.
fn offset(place: Place) -> u64 {
    u64::try_from(place).unwrap_or(0)
}
