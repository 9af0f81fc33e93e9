//! Segments of a direction around an interesting event, drawn against time.
//!
//! Like in an oscilloscope, a ring keeps the last segments, an event triggers, and the picture is kept after enough
//! further segments.

use std::collections::VecDeque;

use super::ladder::nanos_between;
use crate::{
    packet::Timestamp,
    report::{PictureSegment, SegmentKind, Side, TimeSequence, WindowPoint},
    tcp::TracedSegment,
};

/// Number of segments before an event, and after it.
const BEFORE: usize = 150;
const AFTER: usize = 350;

/// The reason for a picture, most interesting first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Trigger {
    ZeroWindow,
    Stall,
    Retransmission,
    /// No event: the beginning.
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

/// The information of one packet, of either direction, about the drawn direction.
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
    /// The event, and the number of marks still to come.
    triggered: Option<(Trigger, usize)>,
    best: Option<Shot>,
}

impl TraceRecorder {
    /// Creates a recorder whose first picture is of the beginning.
    pub(super) fn new() -> Self {
        Self {
            recent: VecDeque::new(),
            triggered: Some((Trigger::Beginning, BEFORE + AFTER)),
            best: None,
        }
    }

    /// Records a segment of the drawn direction. `frames` is the number of frames that end in it, and `frame` the most
    /// informative one.
    pub(super) fn segment(&mut self, segment: &TracedSegment, frame: &'static str, frames: u32) {
        let Some(places) =
            segment.places.clone().filter(|places| places.start >= 0 && places.end > places.start)
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

    /// Records a segment of the other direction, which acknowledges bytes and announces the room for more.
    pub(super) fn acknowledgement(&mut self, segment: &TracedSegment) {
        let Some(acknowledged) = segment.acknowledged.and_then(|place| u64::try_from(place).ok())
        else {
            return;
        };
        let room = segment.window_bytes.map(|bytes| acknowledged + bytes);
        self.push(Mark::Window { time: segment.time, acknowledged, room });
    }

    /// Records an event that is worth a picture, unless a better picture exists or is under way.
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

    /// Returns the best picture and its trigger; none without segments.
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
                Mark::Segment(drawn) => sequence.segments.push(PictureSegment {
                    nanos: at(drawn.time),
                    offset: drawn.offset,
                    length: drawn.length,
                    kind: drawn.kind,
                    packet: drawn.packet,
                    frame: drawn.frame.to_owned(),
                    frames: drawn.frames,
                }),
                Mark::Window { time, acknowledged, room } => {
                    sequence.windows.push(WindowPoint { nanos: at(time), acknowledged, room });
                }
            }
        }
        let times = || {
            let segments = sequence.segments.iter().map(|segment| segment.nanos);
            segments.chain(sequence.windows.iter().map(|window| window.nanos))
        };
        let (from_nanos, to_nanos) = (times().min()?, times().max()?);
        (sequence.from_nanos, sequence.to_nanos) = (from_nanos, to_nanos);
        (!sequence.segments.is_empty()).then_some((trigger, sequence))
    }
}
