//! Number of segments that carry frames of a kind.

use crate::protocols::Place;

/// Counts the segments with payload of a direction, and finds the segments of each frame.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SegmentClock {
    /// Number of the current segment, from 1.
    now: u64,
    /// The segment in which the last frame ended, and its packet.
    ended: u64,
    ended_in: u64,
}

/// A range of segments, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    first: u64,
    last: u64,
}

impl SegmentClock {
    /// Advances to the next segment.
    pub(super) fn tick(&mut self) {
        self.now += 1;
    }

    /// Records that bytes are missing: the next frame does not follow the previous one.
    pub(super) fn gap(&mut self) {
        (self.ended, self.ended_in) = (self.now, 0);
    }

    /// Returns the segments of a complete frame. Frames of a direction are contiguous: each begins in the segment in
    /// which the previous one ended, or in the next.
    pub(super) fn span(&mut self, place: Place) -> Span {
        let shares = self.ended > 0 && place.first_packet == self.ended_in;
        let first = if shares { self.ended } else { (self.ended + 1).min(self.now) };
        (self.ended, self.ended_in) = (self.now, place.last_packet);
        Span { first, last: self.now }
    }
}

/// Number of segments with frames of one kind.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SegmentCount {
    /// The last counted segment.
    counted: u64,
    pub(super) segments: u64,
}

impl SegmentCount {
    /// Counts the segments of a frame that are not yet counted.
    pub(super) fn add(&mut self, span: Span) {
        let first = span.first.max(self.counted + 1);
        self.segments += (span.last + 1).saturating_sub(first);
        self.counted = self.counted.max(span.last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Timestamp;

    fn place(first_packet: u64, last_packet: u64) -> Place {
        Place {
            start: 0,
            end: 0,
            first_packet,
            last_packet,
            begins_segment: false,
            ends_segment: false,
            time: Timestamp::default(),
            missing_bytes: 0,
        }
    }

    /// Frames as their first and last packet. The packets of the direction are 10, 20, 30 …
    fn check(frames: &[(u64, u64)], segments: u64) {
        let (mut clock, mut count, mut read) =
            (SegmentClock::default(), SegmentCount::default(), 0);
        for (first, last) in frames {
            while read < *last {
                clock.tick();
                read += 10;
            }
            count.add(clock.span(place(*first, *last)));
        }
        assert_eq!(count.segments, segments, "{frames:?}");
    }

    #[test]
    fn segments_count_once() {
        check(&[(10, 10)], 1);
        check(&[(10, 10), (10, 10), (10, 10)], 1);
        check(&[(10, 10), (20, 20), (30, 30)], 3);
        check(&[(10, 20), (20, 30)], 3);
        // A frame of five segments, and one that begins where the first one ends.
        check(&[(10, 50), (50, 60)], 6);
    }
}
