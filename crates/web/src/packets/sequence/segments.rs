//! The segments of a picture: strokes, in the colour of the frame that begins in them.

use std::io::{self, Write};

use rabbitscope_text::grouped;
use rabbitscope_wire::report::{PictureSegment, SegmentKind, TimeSequence};

use super::plane::Plane;
use crate::{
    escape::Markup,
    packets::{figures::instant, hues::Hues},
};

/// Minimum height of a visible stroke.
const LEAST_HEIGHT: f64 = 3.0;

/// Draws all segments; those with trouble last, so that nothing covers them.
pub(super) fn draw(
    out: &mut dyn Write,
    sequence: &TimeSequence,
    plane: &Plane,
    hues: &Hues<'_>,
) -> io::Result<()> {
    for kind in [SegmentKind::New, SegmentKind::OutOfOrder, SegmentKind::Retransmitted] {
        let mut class = "";
        for segment in sequence.segments.iter().filter(|segment| segment.kind == kind) {
            let next = class_of(segment, hues);
            if next != class {
                let end = if class.is_empty() { "" } else { "</g>\n" };
                write!(out, "{end}<g class=\"segment {next}\">")?;
                class = next;
            }
            stroke(out, segment, plane)?;
        }
        if !class.is_empty() {
            writeln!(out, "</g>")?;
        }
    }
    Ok(())
}

/// Returns the class of a segment. Repeated bytes have their own colour, regardless of their frame.
fn class_of(segment: &PictureSegment, hues: &Hues<'_>) -> &'static str {
    match segment.kind {
        SegmentKind::Retransmitted => "again",
        SegmentKind::New | SegmentKind::OutOfOrder => hues.class(&segment.frame),
    }
}

fn stroke(out: &mut dyn Write, segment: &PictureSegment, plane: &Plane) -> io::Result<()> {
    let x = plane.x(segment.nanos);
    let bottom = plane.y(segment.offset);
    let top = plane.y(segment.offset.saturating_add(segment.length)).min(bottom - LEAST_HEIGHT);
    // Repeated bytes lie right of and below the front, early ones left of and above it. Their letters lie there, too.
    let letter = match segment.kind {
        SegmentKind::New => None,
        SegmentKind::Retransmitted => Some(('R', x + 4.0, bottom + 8.0)),
        SegmentKind::OutOfOrder => Some(('O', x - 12.0, top)),
    };
    write!(
        out,
        "<path d=\"M{x:.1},{bottom:.1}V{top:.1}\"><title>{}</title></path>",
        title(segment)
    )?;
    if let Some((letter, x, y)) = letter {
        write!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\">{letter}</text>")?;
    }
    Ok(())
}

fn title(segment: &PictureSegment) -> String {
    let kind = match segment.kind {
        SegmentKind::New => "",
        SegmentKind::Retransmitted => ", retransmitted",
        SegmentKind::OutOfOrder => ", out of order",
    };
    let frame = match (segment.frame.as_str(), segment.frames) {
        ("", _) => "unknown frame".to_owned(),
        (frame, 0) => format!("part of {}", Markup(frame)),
        (frame, 1) => Markup(frame).to_string(),
        (frame, count) => format!("{} and {} more", Markup(frame), count - 1),
    };
    format!(
        "packet {}{kind}\n{}\n{} B from byte {}\n{frame}",
        grouped(segment.packet),
        instant(segment.nanos),
        grouped(segment.length),
        grouped(segment.offset),
    )
}
