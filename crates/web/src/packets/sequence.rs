//! Time-sequence graphs after Stevens and tcptrace: the place of each segment in its stream, against time.
//!
//! One direction of a connection is a chart. The report chooses the connections and the spans of time.

use rabbitscope_text::{Unit, counted, grouped, short_time};
use rabbitscope_wire::report::{
    PacketReport, PictureSegment, SegmentKind, TimeSequence, WindowPoint,
};

use super::{figures::instant, hues::Hues, words};
use crate::{
    checks::capitalised,
    document::{Axis, Block, Chart, Hue, Mark, MarkKind},
};

pub(super) const INTRO: &str = "A stroke is a segment: it stands at its time and reaches from its first byte to its \
                                last one. A steep rise is fast; a flat place is a wait.";

/// Returns a chart for each direction.
pub(super) fn blocks(report: &PacketReport) -> Vec<Block> {
    let hues = Hues::from_report(report);
    let all = report.time_sequences.iter().enumerate();
    all.map(|(at, sequence)| Block::chart(format!("sequence-{at}"), chart(sequence, &hues)))
        .collect()
}

fn chart(sequence: &TimeSequence, hues: &Hues<'_>) -> Chart {
    let plane = Plane::for_sequence(sequence);
    let receiver = words::opposite(sequence.from);
    let mut marks = vec![
        zero_windows(sequence, &plane),
        steps(sequence, &plane, (format!("acknowledged by the {receiver}"), Hue::GOOD), |point| {
            Some(point.acknowledged)
        }),
        steps(sequence, &plane, (format!("limit of the {receiver}'s room"), Hue::SOFT), |point| {
            point.room
        }),
    ];
    marks.extend(segments(sequence, &plane, hues));
    marks.retain(|mark| mark.x.iter().any(Option::is_some));
    let nanos = sequence.to_nanos.saturating_sub(sequence.from_nanos) as f64;
    let since = format!("time since {} after the first packet", instant(sequence.from_nanos));
    let from = format!("place in the stream, from byte {}", grouped(plane.base));
    Chart {
        title: capitalised(&sequence.title),
        note: note(sequence, &plane),
        x: Axis::linear(Unit::Nanos).label(since).from(0.0).to(nanos),
        y: Axis::linear(Unit::Bytes).label(from).from(0.0).to(1.04 * plane.tall()),
        marks,
    }
}

fn note(sequence: &TimeSequence, plane: &Plane) -> String {
    let more = match sequence.left_out {
        0 => String::new(),
        more => format!(". {} more of this span are not drawn", counted(more, "segment")),
    };
    let room = plane.room_note(sequence).map(|note| format!(" {note}")).unwrap_or_default();
    format!(
        "{}, bytes from the {}, {} to {}{more}.{room}",
        sequence.connection,
        words::side(sequence.from),
        instant(sequence.from_nanos),
        instant(sequence.to_nanos)
    )
}

/// The drawn bytes of a stream.
struct Plane {
    from_nanos: u64,
    /// Offset at the 0 of the axis of bytes.
    base: u64,
    /// Highest offset in the picture.
    top: u64,
}

impl Plane {
    /// Makes room for all segments. The receiver's room is drawn as far as it does not flatten them.
    fn for_sequence(sequence: &TimeSequence) -> Self {
        let (base, high) = ends(sequence);
        let span = (high - base).max(1);
        let rooms = || sequence.windows.iter().filter_map(|point| point.room);
        let above = high.saturating_add(span);
        let is_near = rooms().min().is_some_and(|lowest| lowest <= above);
        let top = rooms().max().filter(|_| is_near).map_or(high, |room| room.clamp(high, above));
        Self { from_nanos: sequence.from_nanos, base, top }
    }

    fn tall(&self) -> f64 {
        (self.top - self.base).max(1) as f64
    }

    fn x(&self, nanos: u64) -> f64 {
        nanos.saturating_sub(self.from_nanos) as f64
    }

    fn y(&self, offset: u64) -> f64 {
        offset.saturating_sub(self.base) as f64
    }

    /// Explains gaps in the line of the receiver's room.
    fn room_note(&self, sequence: &TimeSequence) -> Option<&'static str> {
        let rooms = || sequence.windows.iter().filter_map(|point| point.room);
        if sequence.windows.is_empty() {
            None
        } else if rooms().next().is_none() {
            Some("The room of the receiver is unknown: the scale of its windows was not captured.")
        } else if rooms().all(|room| room > self.top) {
            Some("The receiver always had room beyond the top of the picture.")
        } else if rooms().any(|room| room > self.top) {
            Some("Where its line is missing, the receiver had room beyond the top of the picture.")
        } else {
            None
        }
    }
}

/// Returns the first and last drawn offset. Acknowledgements from far below would flatten the segments.
fn ends(sequence: &TimeSequence) -> (u64, u64) {
    let acknowledged = || sequence.windows.iter().map(|point| point.acknowledged);
    let segments = &sequence.segments;
    let last = segments.iter().map(|segment| segment.offset.saturating_add(segment.length)).max();
    let Some((low, high)) = segments.iter().map(|segment| segment.offset).min().zip(last) else {
        return (acknowledged().min().unwrap_or(0), acknowledged().max().unwrap_or(0));
    };
    let lowest = low.saturating_sub(high - low);
    (
        acknowledged()
            .min()
            .map_or(low, |lowest_acknowledged| lowest_acknowledged.clamp(lowest, low)),
        high,
    )
}

/// Returns the segments by frame; those with trouble last, so that nothing covers them.
fn segments(sequence: &TimeSequence, plane: &Plane, hues: &Hues<'_>) -> Vec<Mark> {
    let of = |name: &str, hue, is_mine: &dyn Fn(&&PictureSegment) -> bool| {
        let mut mark = Mark::new(MarkKind::Intervals, name, hue);
        for segment in sequence.segments.iter().filter(is_mine) {
            mark.x.push(Some(plane.x(segment.nanos)));
            mark.low.push(Some(plane.y(segment.offset)));
            mark.high.push(Some(plane.y(segment.offset.saturating_add(segment.length))));
            mark.text.push(title(segment));
        }
        mark
    };
    let new = |segment: &PictureSegment| segment.kind == SegmentKind::New;
    let mut marks: Vec<Mark> = hues
        .named()
        .map(|(frame, hue)| of(frame, hue, &|segment| new(segment) && segment.frame == frame))
        .collect();
    marks.push(of("another frame, or unknown", Hue::SOFT, &|segment| {
        new(segment) && hues.of(&segment.frame).is_none()
    }));
    for (name, hue, kind) in [
        ("out of order", Hue::WARN, SegmentKind::OutOfOrder),
        ("retransmitted", Hue::BAD, SegmentKind::Retransmitted),
    ] {
        marks.push(of(name, hue, &|segment| segment.kind == kind));
    }
    marks
}

fn title(segment: &PictureSegment) -> String {
    let kind = match segment.kind {
        SegmentKind::New => "",
        SegmentKind::Retransmitted => ", retransmitted",
        SegmentKind::OutOfOrder => ", out of order",
    };
    let frame = match (segment.frame.as_str(), segment.frames) {
        ("", _) => "unknown frame".to_owned(),
        (frame, 0) => format!("part of {frame}"),
        (frame, 1) => frame.to_owned(),
        (frame, count) => format!("{frame} and {} more", count - 1),
    };
    format!(
        "packet {}{kind}\n{}\n{} B from byte {}\n{frame}",
        grouped(segment.packet),
        instant(segment.nanos),
        grouped(segment.length),
        grouped(segment.offset),
    )
}

/// Returns the spans in which the receiver takes nothing.
fn zero_windows(sequence: &TimeSequence, plane: &Plane) -> Mark {
    let mut mark = Mark::new(MarkKind::Spans, "zero window", Hue::BAD);
    for (from, to) in spans(sequence) {
        let length = short_time(to.saturating_sub(from));
        let text = format!("zero window\n{} to {}\n{length}", instant(from), instant(to));
        mark.span(plane.x(from), plane.x(to), text);
    }
    mark
}

/// Returns whether the receiver takes nothing beyond the acknowledged bytes.
fn is_zero_window(point: &WindowPoint) -> bool {
    point.room.is_some_and(|room| room <= point.acknowledged)
}

fn spans(sequence: &TimeSequence) -> Vec<(u64, u64)> {
    let mut spans = Vec::new();
    let mut begin = None;
    for point in &sequence.windows {
        match (begin, is_zero_window(point)) {
            (None, true) => begin = Some(point.nanos),
            (Some(from), false) => {
                spans.push((from, point.nanos));
                begin = None;
            }
            _ => {}
        }
    }
    spans.extend(begin.map(|from| (from, sequence.to_nanos.max(from))));
    spans
}

/// Returns a value until the next one. Unknown values, and values beyond the picture, interrupt the line.
fn steps(
    sequence: &TimeSequence,
    plane: &Plane,
    (name, hue): (String, Hue),
    value: impl Fn(&WindowPoint) -> Option<u64>,
) -> Mark {
    let mut mark = Mark::new(MarkKind::Steps, name, hue);
    let is_drawn = |offset: &u64| (plane.base..=plane.top).contains(offset);
    for point in &sequence.windows {
        mark.x.push(Some(plane.x(point.nanos)));
        mark.y.push(value(point).filter(is_drawn).map(|offset| plane.y(offset)));
    }
    if mark.y.iter().all(Option::is_none) {
        mark.x.clear();
        mark.y.clear();
    }
    mark
}

#[cfg(test)]
mod tests {
    use rabbitscope_wire::report::Side;

    use super::*;

    fn sequence(windows: &[(u64, u64, Option<u64>)]) -> TimeSequence {
        let point = |&(nanos, acknowledged, room)| WindowPoint { nanos, acknowledged, room };
        TimeSequence {
            connection: String::new(),
            from: Side::Client,
            title: String::new(),
            from_nanos: 0,
            to_nanos: 100,
            segments: Vec::new(),
            windows: windows.iter().map(point).collect(),
            left_out: 0,
        }
    }

    #[test]
    fn a_span_without_room_ends_with_the_next_announcement() {
        let check = |windows: &[(u64, u64, Option<u64>)], expected: &[(u64, u64)]| {
            assert_eq!(spans(&sequence(windows)), expected);
        };
        check(&[(5, 10, Some(10)), (7, 10, Some(10)), (9, 10, Some(20))], &[(5, 9)]);
        check(&[(5, 10, Some(20)), (50, 20, Some(20))], &[(50, 100)]);
        check(&[(5, 10, None)], &[]);
    }

    #[test]
    fn a_line_is_interrupted_where_its_value_is_not_known() {
        let sequence = sequence(&[(0, 0, Some(10)), (10, 5, None), (20, 10, Some(12))]);
        let plane = Plane::for_sequence(&sequence);
        let room = steps(&sequence, &plane, (String::new(), Hue::SOFT), |point| point.room);
        assert_eq!(room.y, [Some(10.0), None, Some(12.0)]);
    }
}
