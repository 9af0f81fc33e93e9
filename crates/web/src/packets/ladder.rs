//! Frames of a channel between client and broker: time runs down, not to scale.

use std::io::{self, Write};

use rabbitscope_text::{counted, grouped, human_bytes, short_time};
use rabbitscope_wire::report::{Ladder, LadderFrame, PacketReport, Side};

use super::{figures::instant, hues::Hues};
use crate::escape::Markup;

const WIDTH: f64 = 620.0;
const CLIENT: f64 = 110.0;
const BROKER: f64 = 500.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 20.0;

/// The minimum distance of two rungs, and its increase for each tenfold gap.
const DISTANCE: f64 = 30.0;
const DISTANCE_OF_TEN: f64 = 5.0;

/// Gaps up to a microsecond have the minimum distance, those above a second the maximum.
const GAPS: (f64, f64) = (1e3, 1e9);

/// Maximum number of rungs of a ladder on the page; the report may have more.
const MAX_RUNGS: usize = 40;

/// Draws ladders, side by side if there is room.
pub(super) fn draw(out: &mut dyn Write, report: &PacketReport) -> io::Result<()> {
    let hues = Hues::from_report(report);
    writeln!(
        out,
        "<p class=\"soft\">Time runs down. The distance of two rungs grows with the logarithm of the gap, which stands \
         on the left. On the right is the time since the frame that this one answers.</p>\n\
         <div class=\"beside\">"
    )?;
    report.ladders.iter().try_for_each(|ladder| one(out, ladder, &hues))?;
    writeln!(out, "</div>")
}

fn one(out: &mut dyn Write, ladder: &Ladder, hues: &Hues<'_>) -> io::Result<()> {
    let rungs = &ladder.frames[..ladder.frames.len().min(MAX_RUNGS)];
    let places = places(rungs);
    let bottom = places.last().map_or(TOP, |place| place.1) + BOTTOM;
    writeln!(
        out,
        "<div><h3><code>{0}</code>, channel {1}</h3>\n<div class=\"scroll\" role=\"region\" tabindex=\"0\" \
         aria-label=\"Ladder\"><svg class=\"ladder\" viewBox=\"0 0 {WIDTH} {2:.0}\" role=\"img\" \
         aria-label=\"Frames of channel {1} in the order of time\">",
        Markup(&ladder.connection),
        ladder.channel,
        bottom + 4.0
    )?;
    for (name, x) in [("client", CLIENT), ("broker", BROKER)] {
        writeln!(
            out,
            "<text class=\"name\" x=\"{x}\" y=\"14\" text-anchor=\"middle\">{name}</text>\
             <line class=\"pole\" x1=\"{x}\" x2=\"{x}\" y1=\"22\" y2=\"{bottom:.1}\"/>"
        )?;
    }
    for ((before, y), rung) in places.into_iter().zip(rungs) {
        gap(out, before, y)?;
        arrow(out, rung, y, hues.class(&rung.label))?;
    }
    writeln!(out, "</svg></div>")?;
    let more = ladder.left_out.saturating_add((ladder.frames.len() - rungs.len()) as u64);
    if more > 0 {
        writeln!(out, "<p class=\"soft\">{} more of this channel.</p>", counted(more, "frame"))?;
    }
    writeln!(out, "</div>")
}

/// A gap in nanoseconds, and its distance on the drawing.
type Gap = Option<(u64, f64)>;

/// Returns the gap before each rung, and the place of the rung.
fn places(rungs: &[LadderFrame]) -> Vec<(Gap, f64)> {
    let mut y = TOP + 14.0;
    let mut last: Option<u64> = None;
    let place = |rung: &LadderFrame| {
        let gap = last.map(|last| rung.nanos.saturating_sub(last));
        last = Some(rung.nanos);
        let gap = gap.map(|nanos| {
            let tens = ((nanos as f64).clamp(GAPS.0, GAPS.1) / GAPS.0).log10();
            (nanos, DISTANCE + DISTANCE_OF_TEN * tens)
        });
        y += gap.map_or(0.0, |(_, distance)| distance);
        (gap, y)
    };
    rungs.iter().map(place).collect()
}

fn gap(out: &mut dyn Write, before: Gap, y: f64) -> io::Result<()> {
    let Some((nanos, distance)) = before else { return Ok(()) };
    writeln!(
        out,
        "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">+ {}</text>",
        CLIENT - 12.0,
        y - distance / 2.0 + 4.0,
        short_time(nanos)
    )
}

fn arrow(out: &mut dyn Write, rung: &LadderFrame, y: f64, hue: &str) -> io::Result<()> {
    let (from, to, back) = match rung.from {
        Side::Client => (CLIENT, BROKER, -8.0),
        Side::Broker => (BROKER, CLIENT, 8.0),
    };
    let size = human_bytes(rung.bytes);
    writeln!(
        out,
        "<g class=\"{hue}\"><title>{} · {size} · packet {} · {}</title>\
         <path class=\"arrow\" d=\"M{from},{y:.1}H{to}m{back},-4l{},4l{back},4\"/>\
         <text class=\"name\" x=\"{}\" y=\"{:.1}\" text-anchor=\"middle\">{} <tspan class=\"soft\">{size}</tspan></text>",
        Markup(&rung.label),
        grouped(rung.packet),
        instant(rung.nanos),
        -back,
        f64::midpoint(CLIENT, BROKER),
        y - 6.0,
        Markup(&rung.label),
    )?;
    if let Some(nanos) = rung.answers_after_nanos {
        writeln!(
            out,
            "<text class=\"answer\" x=\"{}\" y=\"{:.1}\">after {}</text>",
            BROKER + 10.0,
            y + 4.0,
            short_time(nanos)
        )?;
    }
    writeln!(out, "</g>")
}
