//! The effect of one segment on a connection.

use std::time::Duration;

use super::{
    endpoints::{ConnectionId, Direction, Endpoints, Pair},
    figures::{ConnectionEnd, ConnectionSummary, WindowScale},
    limits::Budgets,
    observer::{Output, RoundTrip, TcpObserver, TracedSegment},
    reassembly::Payload,
    sequence::Place,
    side::{Side, is_pure_acknowledgement},
    window::Synchronization,
};
use crate::{
    packet::Timestamp,
    segment::{Segment, TcpFlags},
};

/// A connection.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) id: ConnectionId,
    pub(super) pair: Pair,
    pub(super) endpoints: Endpoints,
    forward: Side,
    reverse: Side,
    first: Timestamp,
    last: Timestamp,
}

impl Connection {
    /// Creates the connection that a segment begins. The segment itself is not processed yet.
    pub(super) fn new(id: ConnectionId, segment: &Segment<'_>) -> Self {
        let Segment { from, to, time, flags, .. } = *segment;
        let opener_is_known = flags.has(TcpFlags::SYN);
        let (opener, acceptor) =
            if flags.has(TcpFlags::SYN | TcpFlags::ACK) { (to, from) } else { (from, to) };
        Self {
            id,
            pair: Pair::new(from, to),
            endpoints: Endpoints { opener, acceptor, opener_is_known },
            forward: Side::new(Direction::Forward),
            reverse: Side::new(Direction::Reverse),
            first: time,
            last: time,
        }
    }

    /// Returns whether a segment between the same ends belongs to this connection instead of opening a new one.
    pub(super) fn continues(&self, segment: &Segment<'_>) -> bool {
        let (own, _) = self.sides(self.direction(segment));
        !(segment.flags.has(TcpFlags::SYN) && own.contradicts(segment.sequence))
    }

    /// Processes a segment.
    pub(super) fn take<O: TcpObserver>(
        &mut self,
        segment: &Segment<'_>,
        budgets: &mut Budgets,
        output: &mut Output<'_, O>,
    ) {
        self.last = self.last.max(segment.time);
        let direction = self.direction(segment);
        let (own, peer) = match direction {
            Direction::Forward => (&mut self.forward, &mut self.reverse),
            Direction::Reverse => (&mut self.reverse, &mut self.forward),
        };
        Turn { segment, direction, own, peer, budgets, output }.take();
    }

    /// Sets the scale of an end's windows, unless the SYNs stated it.
    pub(super) fn set_window_scale(&mut self, direction: Direction, shift: u8) {
        let side = match direction {
            Direction::Forward => &mut self.forward,
            Direction::Reverse => &mut self.reverse,
        };
        if !matches!(side.window.scale, WindowScale::Agreed(_)) {
            side.window.scale = WindowScale::Given(shift.min(14));
        }
    }

    /// Reports everything that is still open, releases the connection's part of the budgets, and returns the summary.
    pub(super) fn end<O: TcpObserver>(
        &mut self,
        end: ConnectionEnd,
        budgets: &mut Budgets,
        output: &mut Output<'_, O>,
    ) -> ConnectionSummary {
        let time = self.last;
        let (forward, reverse) = (&mut self.forward, &mut self.reverse);
        end_side(forward, Direction::Forward, time, budgets, output);
        end_side(reverse, Direction::Reverse, time, budgets, output);
        self.summary(end)
    }

    /// Returns the figures so far.
    pub(super) fn summary(&self, end: ConnectionEnd) -> ConnectionSummary {
        ConnectionSummary {
            endpoints: self.endpoints,
            first: self.first,
            last: self.last,
            end,
            forward: self.forward.figures(&self.reverse, self.last),
            reverse: self.reverse.figures(&self.forward, self.last),
        }
    }

    fn direction(&self, segment: &Segment<'_>) -> Direction {
        if segment.from == self.endpoints.opener { Direction::Forward } else { Direction::Reverse }
    }

    fn sides(&self, direction: Direction) -> (&Side, &Side) {
        match direction {
            Direction::Forward => (&self.forward, &self.reverse),
            Direction::Reverse => (&self.reverse, &self.forward),
        }
    }
}

fn end_side<O: TcpObserver>(
    side: &mut Side,
    direction: Direction,
    time: Timestamp,
    budgets: &mut Budgets,
    output: &mut Output<'_, O>,
) {
    side.reassembly.flush(time, budgets, output);
    side.unacknowledged.clear(budgets);
    side.pace.end(time, direction, output);
    if let Some(zero) = side.window.zero_ended(time, None) {
        output.observer.zero_window(output.connection, direction.opposite(), zero);
    }
}

/// Longest delay of a reordered segment if round trips are unknown: Wireshark's limit.
const REORDERING: Duration = Duration::from_millis(3);

/// Returns whether the first block reports a segment that the receiver got twice. Such a block is already acknowledged,
/// or lies within the next block (RFC 2883, section 4).
fn reports_duplicate(segment: &Segment<'_>) -> bool {
    let [first, second, ..] = segment.options.selective_acknowledgements;
    let Some((start, end)) = first else { return false };
    let is_behind = |one: u32, other: u32| other.wrapping_sub(one).cast_signed() > 0;
    let is_within =
        |(outer_start, outer_end)| !is_behind(start, outer_start) && !is_behind(outer_end, end);
    is_behind(start, segment.acknowledgement) || second.is_some_and(is_within)
}

/// The effect of a segment's payload.
#[derive(Clone, Copy, Debug, Default)]
struct Brought {
    places: Option<(Place, Place)>,
    retransmitted_bytes: u32,
    is_out_of_order: bool,
}

/// A segment with the state that it changes.
struct Turn<'t, 's, 'o, O> {
    segment: &'t Segment<'s>,
    direction: Direction,
    /// The end that sent the segment.
    own: &'t mut Side,
    /// The other end.
    peer: &'t mut Side,
    budgets: &'t mut Budgets,
    output: &'t mut Output<'o, O>,
}

impl<O: TcpObserver> Turn<'_, '_, '_, O> {
    fn take(mut self) {
        self.own.count(self.segment);
        if self.has(TcpFlags::SYN) {
            self.synchronize();
        }
        let acknowledged = if self.has(TcpFlags::ACK) { self.acknowledge() } else { None };
        // The window of a reset has no meaning.
        if !self.has(TcpFlags::RST) {
            self.advertise();
        }
        if acknowledged.is_some() {
            self.go_on();
        }
        self.tell_behind();
        let brought = self.send();
        if self.has(TcpFlags::FIN) {
            self.own.counters.fin.get_or_insert(self.segment.time);
        }
        if self.has(TcpFlags::RST) {
            self.reset();
        }
        self.give_up_holes();
        self.tell_behind();
        self.trace(acknowledged, brought);
    }

    fn has(&self, flags: u8) -> bool {
        self.segment.flags.has(flags)
    }

    fn synchronize(&mut self) {
        let options = &self.segment.options;
        self.own.synchronization.get_or_insert(Synchronization {
            sequence: self.segment.sequence,
            window_scale: options.window_scale,
            max_segment_size: options.max_segment_size,
            has_timestamps: options.timestamps.is_some(),
        });
        self.own.place_or_begin(self.segment.sequence.wrapping_add(1));
        let (own, peer) = (self.own.synchronization, self.peer.synchronization);
        self.own.window.agree(own, peer);
        self.peer.window.agree(peer, own);
    }

    fn acknowledge(&mut self) -> Option<Place> {
        let acknowledged = self.peer.acknowledge(self.segment.acknowledgement);
        self.peer.counters.reported_duplicates += u64::from(reports_duplicate(self.segment));
        if let Some(place) = acknowledged {
            self.end_round_trip(place);
        }
        acknowledged
    }

    fn end_round_trip(&mut self, place: Place) {
        let Segment { packet, time, .. } = *self.segment;
        let duration = self.peer.unacknowledged.acknowledged(place, time, self.budgets);
        let Some(duration) = duration else { return };
        let counters = &mut self.peer.counters;
        counters.round_trips.add(duration);
        if place == 0 && self.peer.synchronization.is_some() {
            counters.syn_round_trip.get_or_insert(duration);
        }
        let direction = self.direction.opposite();
        let round_trip = RoundTrip { packet, time, duration };
        self.output.observer.round_trip(self.output.connection, direction, round_trip);
    }

    fn advertise(&mut self) {
        let Segment { packet, time, window, .. } = *self.segment;
        let ended = self.own.window.advertised(window, self.has(TcpFlags::SYN), time, packet);
        if let Some(zero) = ended {
            let direction = self.direction.opposite();
            self.output.observer.zero_window(self.output.connection, direction, zero);
        }
    }

    /// Updates the other end's pace with the acknowledgement and the window.
    fn go_on(&mut self) {
        let Segment { packet, time, .. } = *self.segment;
        let Some(progress) = self.peer.progress(self.own, time) else { return };
        self.peer.pace.acknowledged(&progress, self.direction.opposite(), self.output);
        if progress.in_flight() == 0 && is_pure_acknowledgement(self.segment) {
            self.peer.stalls.acknowledged(packet, time);
        }
    }

    /// Processes the payload, SYN and FIN. The latter two take a sequence number each.
    fn send(&mut self) -> Brought {
        let segment = self.segment;
        let (syn, fin) = (self.has(TcpFlags::SYN), self.has(TcpFlags::FIN));
        let sequence = segment.sequence.wrapping_add(u32::from(syn));
        if segment.payload_length == 0 && !syn && !fin {
            let place = self.own.place(sequence);
            return Brought { places: place.map(|place| (place, place)), ..Brought::default() };
        }
        let start = self.own.place_or_begin(sequence);
        let end = start + Place::from(segment.payload_length);
        let brought = if end > start { self.send_payload(start, end) } else { Brought::default() };
        self.time_segment(start - Place::from(syn), end + Place::from(fin));
        Brought { places: Some((start, end)), ..brought }
    }

    fn send_payload(&mut self, start: Place, end: Place) -> Brought {
        let Segment { packet, time, payload: bytes, .. } = *self.segment;
        let payload = Payload { packet, segment: (start, end), start, end, bytes };
        let hole_since = self.own.reassembly.hole_since();
        let new = self.own.reassembly.take(payload, time, self.budgets, self.output);
        let is_out_of_order = new > 0 && start < self.own.sent;
        let retransmitted_bytes = self.count_bytes(start, end, new, is_out_of_order);
        if retransmitted_bytes > 0 {
            self.count_needless(end);
        }
        if is_out_of_order {
            self.count_late(hole_since);
        }
        self.own.sent = self.own.sent.max(end);
        self.progress();
        Brought { places: None, retransmitted_bytes, is_out_of_order }
    }

    /// Counts the bytes of a payload, by whether they were seen before. Returns the number of those that were.
    fn count_bytes(&mut self, start: Place, end: Place, new: u64, is_out_of_order: bool) -> u32 {
        let counters = &mut self.own.counters;
        let bytes = |from: Place, to: Place| u64::try_from(to - from).unwrap_or(0);
        let before_start = bytes(start, end.min(0));
        let retransmitted = bytes(start, end) - before_start - new;
        counters.bytes_before_start += before_start;
        counters.unique_bytes += new;
        counters.retransmitted_bytes += retransmitted;
        counters.retransmitted_segments += u64::from(retransmitted > 0);
        counters.out_of_order_segments += u64::from(is_out_of_order);
        u32::try_from(retransmitted).unwrap_or(u32::MAX)
    }

    /// Counts a segment that was retransmitted although the receiver had it.
    fn count_needless(&mut self, end: Place) {
        let is_acknowledged = self.own.acknowledged.is_some_and(|place| end <= place);
        let is_probe = self.peer.window.is_zero();
        // A receiver with a full buffer discards segments; that is no loss of the path.
        let progress = self.own.progress(self.peer, self.segment.time);
        let is_full = progress.is_some_and(|progress| progress.is_nearly_full());
        self.own.counters.needless_segments += u64::from(is_acknowledged || is_probe || is_full);
    }

    /// Counts a segment that fills a hole so late that it was retransmitted. A segment that was only reordered arrives
    /// sooner.
    fn count_late(&mut self, hole_since: Option<Timestamp>) {
        let patience = self.own.round_trip(self.peer).unwrap_or(REORDERING);
        let is_late = hole_since.is_some_and(|since| self.segment.time.since(since) >= patience);
        self.own.counters.late_segments += u64::from(is_late);
    }

    /// Updates the sender's pace with the payload.
    fn progress(&mut self) {
        let Segment { packet, time, payload_length, .. } = *self.segment;
        self.peer.stalls.answered();
        let is_small = payload_length < self.own.segment_bytes(self.peer);
        if let Some(stall) = self.own.stalls.sent(packet, time, is_small) {
            self.output.observer.stall(self.output.connection, self.direction, stall);
        }
        if let Some(progress) = self.own.progress(self.peer, time) {
            let in_flight = progress.in_flight();
            self.own.counters.max_in_flight = self.own.counters.max_in_flight.max(in_flight);
            self.own.pace.sent(&progress);
        }
    }

    fn time_segment(&mut self, start: Place, end: Place) {
        let time = self.segment.time;
        let acknowledged = self.own.acknowledged.unwrap_or(Place::MIN);
        if start < acknowledged {
            self.own.unacknowledged.sent_acknowledged(time);
        }
        if end > acknowledged {
            self.own.unacknowledged.sent(start.max(acknowledged), end, time, self.budgets);
        }
    }

    /// After a reset nothing is acknowledged any more.
    fn reset(&mut self) {
        let time = self.segment.time;
        self.own.counters.reset.get_or_insert(time);
        self.own.counters.reset_packet.get_or_insert(self.segment.packet);
        self.own.pace.end(time, self.direction, self.output);
        self.peer.pace.end(time, self.direction.opposite(), self.output);
    }

    fn give_up_holes(&mut self) {
        let time = self.segment.time;
        for side in [&mut *self.own, &mut *self.peer] {
            let acknowledged = side.acknowledged;
            side.reassembly.give_up_holes(acknowledged, time, self.budgets, self.output);
        }
    }

    /// Reports for each direction whether the receiver has more than was seen, if that has changed.
    fn tell_behind(&mut self) {
        let (own, peer) = (self.direction, self.direction.opposite());
        for (side, direction) in [(&mut *self.own, own), (&mut *self.peer, peer)] {
            if let Some(is_behind) = side.changes_behind() {
                self.output.behind(direction, is_behind);
            }
        }
    }

    fn trace(self, acknowledged: Option<Place>, brought: Brought) {
        let Segment { packet, time, flags, .. } = *self.segment;
        let traced = TracedSegment {
            packet,
            time,
            places: brought.places.map(|(start, end)| start..end),
            retransmitted_bytes: brought.retransmitted_bytes,
            is_out_of_order: brought.is_out_of_order,
            acknowledged,
            window_bytes: self.own.window.bytes(),
            bytes_in_flight: self
                .own
                .progress(self.peer, time)
                .map(|progress| progress.in_flight()),
            flags,
        };
        self.output.observer.segment(self.output.connection, self.direction, &traced);
    }
}
