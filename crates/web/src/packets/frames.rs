//! Frames by protocol, kind and sender.

use std::io::{self, Write};

use rabbitscope_text::{grouped, human_bytes};
use rabbitscope_wire::report::{FrameCount, PacketReport};

use super::{
    bar::single,
    figures::{percent, share},
    table::{self, Column},
    words,
};
use crate::escape::Markup;

/// Writes a row for each kind, in the order of the report.
pub(super) fn draw(out: &mut dyn Write, report: &PacketReport) -> io::Result<()> {
    let columns = [
        Column::text("frame"),
        Column::text("sent by"),
        Column::number("frames"),
        Column::text("").meaning("Share of all frames"),
        Column::number("share").meaning("Share of all frames"),
        Column::number("bytes").meaning("With the frames' own headers"),
        Column::text("protocol"),
    ];
    let all = report.frames.iter().map(|frame| frame.frames).fold(0, u64::saturating_add);
    table::head(out, "Frames", &columns)?;
    writeln!(out, "<tbody>")?;
    report.frames.iter().try_for_each(|frame| row(out, frame, all))?;
    writeln!(out, "</tbody>")?;
    table::foot(out)
}

fn row(out: &mut dyn Write, frame: &FrameCount, all: u64) -> io::Result<()> {
    let of = share(frame.frames, all);
    writeln!(
        out,
        "<tr><th scope=\"row\"><code>{}</code></th><td class=\"left\">{}</td><td>{}</td><td class=\"left\">{}</td>\
         <td>{}</td><td>{}</td><td class=\"left soft\">{}</td></tr>",
        Markup(&frame.kind),
        words::side(frame.from),
        grouped(frame.frames),
        single("c1", of),
        percent(of),
        human_bytes(frame.bytes),
        Markup(&frame.protocol)
    )
}
