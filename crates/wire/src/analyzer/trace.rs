//! Segments of a direction around what is worth looking at, to be drawn against time.
//!
//! As an oscilloscope: the last segments are kept in a ring, an event triggers, and when as many have come after it the
//! picture is kept.

use std::collections::VecDeque;

use super::ladder::nanos_between;
use crate::{
    packet::Timestamp,
    report::{PictureSegment, SegmentKind, Side, TimeSequence, WindowPoint},
    tcp::TracedSegment,
};

/// Segments before an event, and after it.
const BEFORE: usize = 150;
const AFTER: usize = 350;

/// Why a picture was taken; the first is worth most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Trigger {
    ZeroWindow,
    Stall,
    Retransmission,
    /// Nothing happened: the beginning.
    Beginning,
}

impl Trigger {
    const fn title(self) -> &'static str {
        match self {
            Self::ZeroWindow => "the receiver had no room",
            Self::Stall => "a small segment waits for a delayed acknowledgement",
            Self::Retransmission => "bytes are sent again",
            Self::Beginning => "the first segments",
        }
    }
}

/// What one packet of either direction says about the direction that is drawn.
#[derive(Clone, Copy, Debug)]
enum Mark {
    Segment(Drawn),
    Window { time: Timestamp, acknowledged: u64, room: Option<u64> },
}

#[derive(Clone, Copy, Debug)]
struct Drawn {
    time: Timestamp,
    packet: u64,
    offset: u64,
    length: u64,
    kind: SegmentKind,
    frame: &'static str,
    frames: u32,
}

/// A picture that is kept.
#[derive(Clone, Debug)]
struct Shot {
    trigger: Trigger,
    marks: Vec<Mark>,
}

/// Watches one direction of a connection.
#[derive(Clone, Debug)]
pub(super) struct TraceRecorder {
    recent: VecDeque<Mark>,
    /// The event, and how many marks are still to come.
    triggered: Option<(Trigger, usize)>,
    best: Option<Shot>,
}

impl TraceRecorder {
    /// The first picture is that of the beginning.
    pub(super) fn new() -> Self {
        Self {
            recent: VecDeque::new(),
            triggered: Some((Trigger::Beginning, BEFORE + AFTER)),
            best: None,
        }
    }

    /// A segment of the direction that is drawn.
    /// `frames` end in it, of which `frame` says most.
    pub(super) fn segment(&mut self, segment: &TracedSegment, frame: &'static str, frames: u32) {
        let Some(places) = segment.places.clone().filter(|it| it.start >= 0 && it.end > it.start)
        else {
            return;
        };
        let kind = if segment.retransmitted_bytes > 0 {
            SegmentKind::Retransmitted
        } else if segment.is_out_of_order {
            SegmentKind::OutOfOrder
        } else {
            SegmentKind::New
        };
        self.push(Mark::Segment(Drawn {
            time: segment.time,
            packet: segment.packet,
            offset: places.start.unsigned_abs(),
            length: places.end.abs_diff(places.start),
            kind,
            frame,
            frames,
        }));
        if kind == SegmentKind::Retransmitted {
            self.trigger(Trigger::Retransmission);
        }
    }

    /// A segment of the other direction, which acknowledges bytes and says how many more there is room for.
    pub(super) fn acknowledgement(&mut self, segment: &TracedSegment) {
        let Some(acknowledged) = segment.acknowledged.and_then(|it| u64::try_from(it).ok()) else {
            return;
        };
        let room = segment.window_bytes.map(|bytes| acknowledged + bytes);
        self.push(Mark::Window { time: segment.time, acknowledged, room });
    }

    /// Something happened that is worth a picture, unless a better one is there or on its way.
    pub(super) fn trigger(&mut self, trigger: Trigger) {
        let is_better = |than: Trigger| trigger < than;
        let under_way = self.triggered.is_none_or(|(other, _)| is_better(other));
        if under_way && self.best.as_ref().is_none_or(|shot| is_better(shot.trigger)) {
            self.triggered = Some((trigger, AFTER));
        }
    }

    fn push(&mut self, mark: Mark) {
        if self.recent.len() == BEFORE + AFTER {
            self.recent.pop_front();
        }
        self.recent.push_back(mark);
        if let Some((trigger, left)) = self.triggered {
            if left > 1 {
                self.triggered = Some((trigger, left - 1));
            } else {
                self.shoot(trigger);
            }
        }
    }

    fn shoot(&mut self, trigger: Trigger) {
        self.best = Some(Shot { trigger, marks: self.recent.iter().copied().collect() });
        self.triggered = None;
    }

    /// The best picture, with how much it is worth; none without segments.
    pub(super) fn report(
        mut self,
        connection: &str,
        from: Side,
        first: Timestamp,
    ) -> Option<(Trigger, TimeSequence)> {
        if let Some((trigger, _)) = self.triggered {
            self.shoot(trigger);
        }
        let Shot { trigger, marks } = self.best?;
        let at = |time: Timestamp| nanos_between(first, time);
        let mut sequence = TimeSequence {
            connection: connection.to_owned(),
            from,
            title: trigger.title().to_owned(),
            from_nanos: 0,
            to_nanos: 0,
            segments: Vec::new(),
            windows: Vec::new(),
            left_out: 0,
        };
        for mark in marks {
            match mark {
                Mark::Segment(it) => sequence.segments.push(PictureSegment {
                    nanos: at(it.time),
                    offset: it.offset,
                    length: it.length,
                    kind: it.kind,
                    packet: it.packet,
                    frame: it.frame.to_owned(),
                    frames: it.frames,
                }),
                Mark::Window { time, acknowledged, room } => {
                    sequence.windows.push(WindowPoint { nanos: at(time), acknowledged, room });
                }
            }
        }
        let times = || {
            let segments = sequence.segments.iter().map(|it| it.nanos);
            segments.chain(sequence.windows.iter().map(|it| it.nanos))
        };
        let (from_nanos, to_nanos) = (times().min()?, times().max()?);
        (sequence.from_nanos, sequence.to_nanos) = (from_nanos, to_nanos);
        (!sequence.segments.is_empty()).then_some((trigger, sequence))
    }
}
