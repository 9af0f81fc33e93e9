//! Frames of a channel between client and broker, in the order of time.

use rabbitscope_text::{Unit, counted, grouped};
use rabbitscope_wire::report::{Ladder, LadderFrame, PacketReport, Side};

use super::figures::instant;
use crate::document::{Block, Cell, Column, Content, Sentence, Table, Tone};

pub(super) const INTRO: &str = "Time runs down. On the left is the gap since the frame above. On the right is the time \
                                since the frame that this one answers.";

/// Maximum number of rungs of a ladder on the page; the report may have more.
const MAX_RUNGS: usize = 40;

/// Returns a table for each ladder.
pub(super) fn blocks(report: &PacketReport) -> Vec<Block> {
    report.ladders.iter().enumerate().flat_map(|(at, ladder)| one(at, ladder)).collect()
}

fn one(at: usize, ladder: &Ladder) -> Vec<Block> {
    let rungs = &ladder.frames[..ladder.frames.len().min(MAX_RUNGS)];
    let heading = format!("{}, channel {}", ladder.connection, ladder.channel);
    let mut last = None;
    let row = |rung: &LadderFrame| {
        let gap = last.map(|last| rung.nanos.saturating_sub(last) as f64);
        last = Some(rung.nanos);
        cells(gap, rung)
    };
    let rows = rungs.iter().map(row).collect();
    let columns = vec![
        Column::text("gap"),
        Column::text("client, broker").meaning("The direction: from the client (left) or to it"),
        Column::text("frame"),
        Column::number("bytes"),
        Column::number("answers after"),
        Column::number("packet"),
    ];
    let table = Table { label: "Frames of a channel", columns, rows, ..Table::default() };
    let more = ladder.left_out.saturating_add((ladder.frames.len() - rungs.len()) as u64);
    let more = (more > 0).then(|| {
        let text = format!("{} more of this channel.", counted(more, "frame"));
        Block::sentences(format!("ladder-{at}-more"), vec![Sentence::new(text, Tone::Soft)])
    });
    let heading = vec![Sentence::new(heading, Tone::Plain)];
    let blocks = [
        Block::sentences(format!("ladder-{at}-of"), heading),
        Block::new(format!("ladder-{at}"), Content::Table(table)),
    ];
    blocks.into_iter().chain(more).collect()
}

fn cells(gap: Option<f64>, rung: &LadderFrame) -> Vec<Cell> {
    let after = rung.answers_after_nanos.map(|nanos| nanos as f64);
    let empty = |cell: Option<Cell>| cell.unwrap_or_default();
    vec![
        empty(gap.map(|gap| Cell::figure(gap, Unit::Nanos))).tone(Tone::Soft),
        Cell::text(if rung.from == Side::Client { "───▶" } else { "◀───" }),
        Cell::code(&rung.label),
        Cell::figure(rung.bytes as f64, Unit::Bytes),
        empty(after.map(|after| Cell::figure(after, Unit::Nanos))),
        Cell::text(grouped(rung.packet)).meaning(instant(rung.nanos)),
    ]
}
