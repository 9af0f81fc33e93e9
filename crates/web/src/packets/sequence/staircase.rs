//! The receiver's announcements: two staircases, and the spans in which it had no room.

use std::io::{self, Write};

use rabbitscope_text::short_time;
use rabbitscope_wire::report::{TimeSequence, WindowPoint};

use super::plane::Plane;
use crate::packets::figures::instant;

/// Minimum width of a visible zero window.
const LEAST_WIDTH: f64 = 2.0;

/// Draws the acknowledged bytes as a line, and the end of the receiver's room as a second one.
pub(super) fn draw(out: &mut dyn Write, sequence: &TimeSequence, plane: &Plane) -> io::Result<()> {
    let acknowledged = steps(sequence, plane, |point| Some(point.acknowledged));
    let room = steps(sequence, plane, |point| point.room);
    for (class, path) in [("acknowledged", acknowledged), ("room", room)] {
        if !path.is_empty() {
            writeln!(out, "<path class=\"{class}\" d=\"{path}\"/>")?;
        }
    }
    Ok(())
}

/// Draws the spans in which the receiver takes nothing.
pub(super) fn zero_windows(
    out: &mut dyn Write,
    sequence: &TimeSequence,
    plane: &Plane,
) -> io::Result<()> {
    let (top, bottom) = Plane::heights();
    for (from, to) in spans(sequence) {
        let x = plane.x(from);
        writeln!(
            out,
            "<rect class=\"zero\" x=\"{x:.1}\" y=\"{top}\" width=\"{:.1}\" height=\"{}\"><title>zero window\n{} to \
             {}\n{}</title></rect>",
            (plane.x(to) - x).max(LEAST_WIDTH),
            bottom - top,
            instant(from),
            instant(to),
            short_time(to.saturating_sub(from))
        )?;
    }
    Ok(())
}

/// Returns whether the receiver takes nothing beyond the acknowledged bytes.
pub(super) fn is_zero_window(point: &WindowPoint) -> bool {
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

/// Draws a value until the next one. Unknown values, and values beyond the picture, interrupt the line.
fn steps(
    sequence: &TimeSequence,
    plane: &Plane,
    value: impl Fn(&WindowPoint) -> Option<u64>,
) -> String {
    let mut path = Vec::new();
    let mut is_down = false;
    let ends = sequence.windows.iter().skip(1).map(|point| point.nanos);
    let ends = ends.chain([sequence.to_nanos]);
    for (point, end) in sequence.windows.iter().zip(ends) {
        match value(point).filter(|value| plane.has(*value)) {
            Some(value) => {
                let (x, y) = (plane.x(point.nanos), plane.y(value));
                path.push(if is_down { format!("V{y:.1}") } else { format!("M{x:.1},{y:.1}") });
                path.push(format!("H{:.1}", plane.x(end.max(point.nanos))));
                is_down = true;
            }
            None => is_down = false,
        }
    }
    path.concat()
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
        let room = steps(&sequence, &Plane::for_sequence(&sequence), |point| point.room);
        assert_eq!(room.matches('M').count(), 2, "{room}");
        assert_eq!(room.matches('H').count(), 2, "{room}");
    }
}
