//! Sizes of packets and, if known, of the broker's writes and reads.

use std::io::{self, Write};

use rabbitscope_text::{grouped, human_bytes};
use rabbitscope_wire::report::{PacketReport, SizeBin, WriteSizes};

use super::{
    bar::single,
    figures::{percent, share},
    table::{self, Column},
};

/// Draws one table, or two side by side.
pub(super) fn draw(out: &mut dyn Write, report: &PacketReport) -> io::Result<()> {
    writeln!(out, "<div class=\"beside\">")?;
    if !report.sizes.is_empty() {
        packets(out, &report.sizes)?;
    }
    if let Some(writes) = &report.writes {
        system_calls(out, writes)?;
    }
    writeln!(out, "</div>")
}

fn packets(out: &mut dyn Write, bins: &[SizeBin]) -> io::Result<()> {
    let columns = [
        Column::text("bytes on the wire"),
        Column::text("packets").meaning("Share of all packets"),
        Column::number(""),
        Column::number("number"),
        Column::text("bytes").meaning("Share of all bytes"),
        Column::number(""),
        Column::number("sum"),
        Column::number("seen").meaning("Smallest and largest packet of the bin"),
    ];
    let sum = |value: fn(&SizeBin) -> u64| bins.iter().map(value).fold(0, u64::saturating_add);
    let (packets, bytes) = (sum(|bin| bin.packets), sum(|bin| bin.bytes));
    writeln!(out, "<div><h3>Packets, in the bins of <code>tshark -z plen,tree</code></h3>")?;
    table::head(out, "Packets by size", &columns)?;
    writeln!(out, "<tbody>")?;
    bins.iter().try_for_each(|bin| row(out, bin, packets, bytes))?;
    writeln!(out, "</tbody>")?;
    table::foot(out)?;
    writeln!(out, "</div>")
}

fn row(out: &mut dyn Write, bin: &SizeBin, packets: u64, bytes: u64) -> io::Result<()> {
    let range = match bin.to {
        Some(to) => format!("{}–{}", grouped(bin.from.into()), grouped(to.into())),
        None => format!("{} and more", grouped(bin.from.into())),
    };
    let seen = if bin.packets == 0 {
        String::new()
    } else {
        format!("{}–{}", grouped(bin.min.into()), grouped(bin.max.into()))
    };
    let of = [share(bin.packets, packets), share(bin.bytes, bytes)];
    writeln!(
        out,
        "<tr{}><th scope=\"row\">{range}</th><td class=\"left\">{}</td><td>{}</td><td>{}</td><td class=\"left\">{}</td>\
         <td>{}</td><td>{}</td><td>{seen}</td></tr>",
        if bin.packets == 0 { " class=\"soft\"" } else { "" },
        single("c1", of[0]),
        percent(of[0]),
        grouped(bin.packets),
        single("c2", of[1]),
        percent(of[1]),
        human_bytes(bin.bytes),
    )
}

fn system_calls(out: &mut dyn Write, sizes: &WriteSizes) -> io::Result<()> {
    let columns = [
        Column::text("bytes").meaning("Smallest size of the bin"),
        Column::text("writes").meaning("Share of all writes"),
        Column::number("number"),
        Column::text("reads").meaning("Share of all reads"),
        Column::number("number"),
    ];
    writeln!(
        out,
        "<div><h3>The broker's writes and reads</h3>\n<p class=\"soft\">The kernel may join several writes to one \
         segment.</p>"
    )?;
    table::head(out, "Writes and reads by size", &columns)?;
    writeln!(out, "<tbody>")?;
    let bins = sizes.writes.iter().chain(&sizes.reads);
    let mut bins: Vec<u64> = bins.map(|(from, _)| *from).collect();
    bins.sort_unstable();
    bins.dedup();
    for from in bins {
        write!(out, "<tr><th scope=\"row\">{} …</th>", grouped(from))?;
        calls(out, &sizes.writes, from, "c1")?;
        calls(out, &sizes.reads, from, "c2")?;
        writeln!(out, "</tr>")?;
    }
    writeln!(out, "</tbody>")?;
    table::foot(out)?;
    writeln!(out, "</div>")
}

fn calls(out: &mut dyn Write, bins: &[(u64, u64)], from: u64, hue: &str) -> io::Result<()> {
    let sum = bins.iter().map(|(_, count)| *count).fold(0, u64::saturating_add);
    let count = bins.iter().find(|(bin, _)| *bin == from).map_or(0, |(_, count)| *count);
    let of = share(count, sum);
    write!(
        out,
        "<td class=\"left\" title=\"{}\">{}</td><td>{}</td>",
        percent(of),
        single(hue, of),
        grouped(count)
    )
}
