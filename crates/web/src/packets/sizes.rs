//! Sizes of packets and, if known, of the broker's writes and reads.

use rabbitscope_text::{Unit, grouped};
use rabbitscope_wire::report::{PacketReport, SizeBin, WriteSizes};

use super::figures::{number, share};
use crate::document::{Block, Cell, Column, Content, Hue, Table, Tone};

/// Returns one table, or two.
pub(super) fn blocks(report: &PacketReport) -> Vec<Block> {
    let packets = (!report.sizes.is_empty()).then(|| packets(&report.sizes));
    let calls = report.writes.as_ref().map(system_calls);
    packets.into_iter().chain(calls).collect()
}

fn packets(bins: &[SizeBin]) -> Block {
    let columns = vec![
        Column::text("bytes on the wire").meaning("The bins of tshark -z plen,tree"),
        Column::text("packets").meaning("Share of all packets"),
        Column::number("number"),
        Column::text("bytes").meaning("Share of all bytes"),
        Column::number("sum"),
        Column::number("seen").meaning("Smallest and largest packet of the bin"),
    ];
    let sum = |value: fn(&SizeBin) -> u64| bins.iter().map(value).fold(0, u64::saturating_add);
    let (packets, bytes) = (sum(|bin| bin.packets), sum(|bin| bin.bytes));
    let rows = bins.iter().map(|bin| row(bin, packets, bytes)).collect();
    let table = Table { label: "Packets by size", columns, rows, ..Table::default() };
    Block::new("packets-by-size", Content::Table(table))
}

fn row(bin: &SizeBin, packets: u64, bytes: u64) -> Vec<Cell> {
    let range = match bin.to {
        Some(to) => format!("{}–{}", grouped(bin.from.into()), grouped(to.into())),
        None => format!("{} and more", grouped(bin.from.into())),
    };
    let seen = if bin.packets == 0 {
        String::new()
    } else {
        format!("{}–{}", grouped(bin.min.into()), grouped(bin.max.into()))
    };
    let tone = if bin.packets == 0 { Tone::Soft } else { Tone::Plain };
    let cells = vec![
        Cell::text(range),
        Cell::share(Hue::series(0), share(bin.packets, packets)),
        number(bin.packets),
        Cell::share(Hue::series(1), share(bin.bytes, bytes)),
        Cell::figure(bin.bytes as f64, Unit::Bytes),
        Cell::text(seen),
    ];
    cells.into_iter().map(|cell| cell.tone(tone)).collect()
}

fn system_calls(sizes: &WriteSizes) -> Block {
    let columns = vec![
        Column::text("bytes").meaning(
            "Smallest size of the bin. The kernel may join several writes to one segment.",
        ),
        Column::text("writes").meaning("Share of all writes of the broker"),
        Column::number("number"),
        Column::text("reads").meaning("Share of all reads of the broker"),
        Column::number("number"),
    ];
    let bins = sizes.writes.iter().chain(&sizes.reads);
    let mut bins: Vec<u64> = bins.map(|(from, _)| *from).collect();
    bins.sort_unstable();
    bins.dedup();
    let row = |from: u64| {
        let [write, writes] = calls(&sizes.writes, from, 0);
        let [read, reads] = calls(&sizes.reads, from, 1);
        vec![Cell::text(format!("{} …", grouped(from))), write, writes, read, reads]
    };
    let rows = bins.into_iter().map(row).collect();
    let table = Table { label: "Writes and reads by size", columns, rows, ..Table::default() };
    Block::new("writes-and-reads", Content::Table(table))
}

fn calls(bins: &[(u64, u64)], from: u64, series: usize) -> [Cell; 2] {
    let sum = bins.iter().map(|(_, count)| *count).fold(0, u64::saturating_add);
    let count = bins.iter().find(|(bin, _)| *bin == from).map_or(0, |(_, count)| *count);
    [Cell::share(Hue::series(series), share(count, sum)), number(count)]
}
