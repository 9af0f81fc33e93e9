//! Spans in which a sender was busy, or limited by the receiver's window.
//!
//! A flight lasts until all data is acknowledged that was unacknowledged at its beginning. A sender is limited by the
//! receiver if the window was nearly full in three consecutive flights. The method is from Zhang, Breslau, Paxson,
//! Shenker: On the Characteristics and Origins of Internet Flow Rates, 2002.

use std::time::Duration;

use super::{
    endpoints::Direction,
    observer::{Output, SenderState, Span, TcpObserver},
    sequence::Place,
};
use crate::packet::Timestamp;

/// Number of consecutive flights that make a limit; fewer may be chance.
const LIMITED_FLIGHTS: u32 = 3;

/// Returns the bytes in flight from which a window is nearly full: the window minus three segments, but at least half
/// of the window. Without that minimum, a window of three segments would always count as full, as with the large
/// segments of a loopback.
pub(super) fn nearly_full(window_bytes: u64, segment_bytes: u64) -> u64 {
    window_bytes.saturating_sub(3 * segment_bytes).max(window_bytes / 2)
}

/// Progress of a direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    pub(super) time: Timestamp,
    /// Offset after the last byte that was sent.
    pub(super) sent: Place,
    /// Offset up to which all bytes are acknowledged.
    pub(super) acknowledged: Place,
    /// The limit of [`nearly_full`]; none if the window is unknown.
    pub(super) nearly_full: Option<u64>,
}

impl Progress {
    /// Returns the number of unacknowledged bytes.
    pub(super) fn in_flight(&self) -> u64 {
        u64::try_from(self.sent - self.acknowledged).unwrap_or(0)
    }

    pub(super) fn is_nearly_full(&self) -> bool {
        self.in_flight() > 0 && self.nearly_full.is_some_and(|limit| self.in_flight() >= limit)
    }
}

#[derive(Clone, Copy, Debug)]
struct Flight {
    start: Timestamp,
    /// Offset after the last byte sent at the flight's beginning.
    mark: Place,
    is_limited: bool,
}

/// A run of consecutive limited flights.
#[derive(Clone, Copy, Debug, Default)]
struct LimitedFlights {
    count: u32,
    start: Timestamp,
    end: Timestamp,
    /// Duration without the pauses between flights.
    time: Duration,
    last: Duration,
}

/// The states of a sender.
#[derive(Debug, Default)]
pub(super) struct Pace {
    busy_since: Option<Timestamp>,
    busy: Duration,
    flight: Option<Flight>,
    limited_flights: LimitedFlights,
    limited: Duration,
    flights: u64,
    flights_limited: u64,
}

impl Pace {
    /// Returns the time busy, and the part of it limited by the receiver, up to `now`.
    pub(super) fn times(&self, now: Timestamp) -> (Duration, Duration) {
        let busy = self.busy + self.busy_since.map_or(Duration::ZERO, |since| now.since(since));
        let run = self.limited_flights;
        let limited = if run.count >= LIMITED_FLIGHTS { run.time } else { Duration::ZERO };
        (busy, self.limited + limited)
    }

    /// Returns the number of flights that ended, and of the limited ones among them.
    pub(super) const fn flights(&self) -> (u64, u64) {
        (self.flights, self.flights_limited)
    }

    /// Records that data was sent or retransmitted.
    pub(super) fn sent(&mut self, progress: &Progress) {
        if progress.in_flight() == 0 {
            return;
        }
        self.busy_since.get_or_insert(progress.time);
        let (start, mark) = (progress.time, progress.sent);
        let flight = self.flight.get_or_insert(Flight { start, mark, is_limited: false });
        flight.is_limited |= progress.is_nearly_full();
    }

    /// Records an acknowledgement or a change of the window.
    pub(super) fn acknowledged<O: TcpObserver>(
        &mut self,
        progress: &Progress,
        direction: Direction,
        output: &mut Output<'_, O>,
    ) {
        if self.flight.is_some_and(|flight| progress.acknowledged >= flight.mark) {
            self.end_flight(progress.time, direction, output);
        }
        if progress.in_flight() == 0 {
            self.end_busy(progress.time, direction, output);
        } else {
            self.sent(progress);
        }
    }

    /// Ends all spans.
    pub(super) fn end<O: TcpObserver>(
        &mut self,
        time: Timestamp,
        direction: Direction,
        output: &mut Output<'_, O>,
    ) {
        self.end_flight(time, direction, output);
        self.end_busy(time, direction, output);
        self.end_limited_flights(direction, output);
    }

    fn end_busy<O: TcpObserver>(
        &mut self,
        end: Timestamp,
        direction: Direction,
        output: &mut Output<'_, O>,
    ) {
        if let Some(start) = self.busy_since.take() {
            self.busy += end.since(start);
            output.span(direction, Span { state: SenderState::Busy, start, end });
        }
    }

    fn end_flight<O: TcpObserver>(
        &mut self,
        end: Timestamp,
        direction: Direction,
        output: &mut Output<'_, O>,
    ) {
        let Some(flight) = self.flight.take() else { return };
        self.flights += 1;
        // A pause longer than the previous flight means that the window did not limit the sender.
        let run = &self.limited_flights;
        if !flight.is_limited || flight.start.since(run.end) > run.last {
            self.end_limited_flights(direction, output);
        }
        if flight.is_limited {
            self.flights_limited += 1;
            self.limited_flights.add(flight.start, end);
        }
    }

    fn end_limited_flights<O: TcpObserver>(
        &mut self,
        direction: Direction,
        output: &mut Output<'_, O>,
    ) {
        let run = std::mem::take(&mut self.limited_flights);
        if run.count >= LIMITED_FLIGHTS {
            self.limited += run.time;
            let state = SenderState::ReceiverLimited;
            output.span(direction, Span { state, start: run.start, end: run.end });
        }
    }
}

impl LimitedFlights {
    fn add(&mut self, start: Timestamp, end: Timestamp) {
        if self.count == 0 {
            self.start = start;
        }
        self.count = self.count.saturating_add(1);
        self.end = end;
        self.last = end.since(start);
        self.time += self.last;
    }
}
