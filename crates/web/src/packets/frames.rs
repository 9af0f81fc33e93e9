//! Frames by protocol, kind and sender.

use rabbitscope_text::Unit;
use rabbitscope_wire::report::PacketReport;

use super::{
    figures::{number, share},
    words,
};
use crate::document::{Block, Cell, Column, Content, Hue, Table, Tone};

/// Returns a row for each kind, in the order of the report.
pub(super) fn blocks(report: &PacketReport) -> Vec<Block> {
    if report.frames.is_empty() {
        return Vec::new();
    }
    let columns = vec![
        Column::text("frame"),
        Column::text("sent by"),
        Column::number("frames"),
        Column::text("share").meaning("Share of all frames"),
        Column::number("bytes").meaning("With the frames' own headers"),
        Column::text("protocol"),
    ];
    let all = report.frames.iter().map(|frame| frame.frames).fold(0, u64::saturating_add);
    let rows = report.frames.iter().map(|frame| {
        vec![
            Cell::code(&frame.kind),
            Cell::text(words::side(frame.from)),
            number(frame.frames),
            Cell::share(Hue::series(0), share(frame.frames, all)),
            Cell::figure(frame.bytes as f64, Unit::Bytes),
            Cell::text(&frame.protocol).tone(Tone::Soft),
        ]
    });
    let table = Table { label: "Frames", columns, rows: rows.collect(), ..Table::default() };
    vec![Block::new("frames-table", Content::Table(table))]
}
