//! The section: a heading, a key and a drawing for each direction.

use std::io::{self, Write};

use rabbitscope_text::counted;
use rabbitscope_wire::report::{PacketReport, TimeSequence};

use super::{key, plane::Plane, segments, staircase};
use crate::{
    checks::capitalised,
    escape::Markup,
    packets::{figures::instant, hues::Hues, words},
};

/// Draws all pictures of the report.
pub(in crate::packets) fn draw(out: &mut dyn Write, report: &PacketReport) -> io::Result<()> {
    let hues = Hues::from_report(report);
    writeln!(
        out,
        "<p class=\"soft\">A stroke is a segment: it stands at its time and reaches from its first byte to its last one. \
         A steep rise is fast; a flat place is a wait. Hold the pointer over a stroke for its packet.</p>"
    )?;
    report.time_sequences.iter().try_for_each(|sequence| one(out, sequence, &hues))
}

fn one(out: &mut dyn Write, sequence: &TimeSequence, hues: &Hues<'_>) -> io::Result<()> {
    let plane = Plane::for_sequence(sequence);
    writeln!(
        out,
        "<figure><figcaption><h3>{}</h3>\n<p><code>{}</code>, bytes from the {}, {} to {}{}</p></figcaption>",
        Markup(&capitalised(&sequence.title)),
        Markup(&sequence.connection),
        words::side(sequence.from),
        instant(sequence.from_nanos),
        instant(sequence.to_nanos),
        match sequence.left_out {
            0 => String::new(),
            more => format!(". {} more of this span are not drawn", counted(more, "segment")),
        }
    )?;
    key::draw(out, sequence, hues)?;
    writeln!(
        out,
        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Time-sequence graph\">\
         <svg class=\"sequence\" viewBox=\"0 0 {:.0} {:.0}\" role=\"img\" aria-label=\"Bytes from the {} against time\">",
        Plane::WIDTH,
        Plane::HEIGHT,
        words::side(sequence.from)
    )?;
    plane.grid(out)?;
    staircase::zero_windows(out, sequence, &plane)?;
    staircase::draw(out, sequence, &plane)?;
    segments::draw(out, sequence, &plane, hues)?;
    writeln!(out, "</svg></div>")?;
    if let Some(note) = plane.room_note(sequence) {
        writeln!(out, "<p class=\"soft\">{note}</p>")?;
    }
    writeln!(out, "</figure>")
}
