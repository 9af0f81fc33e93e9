//! Connections: a row for each direction, with the limits of its sender first.

use std::io::{self, Write};

use rabbitscope_text::{counted, grouped, human_bytes, short_time};
use rabbitscope_wire::report::{ConnectionReport, DirectionReport, PacketReport, Side};

use super::{
    bar::{self, Part},
    figures::{bounded, bytes_or_dash, percent, rare, round_trips, share},
    table::{self, Column},
    words::{
        self, BUSY, DELAYED_ACK, IDLE, IN_FLIGHT, MEDIAN_PAYLOAD, OUT_OF_ORDER, PURE_ACK,
        RECEIVER_LIMITED, RETRANSMITTED, ROUND_TRIP, ZERO_WINDOW,
    },
};
use crate::escape::Markup;

const COLUMNS: [Column; 15] = [
    Column::text("connection"),
    Column::text("sender"),
    Column::text("limits").meaning("Receiver-limited, otherwise busy, idle: shares of the time"),
    Column::number("no room").term(&ZERO_WINDOW),
    Column::number("retransmitted").term(&RETRANSMITTED),
    Column::number("stalls").term(&DELAYED_ACK),
    Column::text("latencies").meaning("Median and 99th percentile on the wire"),
    Column::number("round trip").term(&ROUND_TRIP),
    Column::number("payload").meaning("Bytes of payload, repeated ones as well"),
    Column::number("segments").meaning("Segments with payload"),
    Column::number("acks alone").term(&PURE_ACK),
    Column::number("median").term(&MEDIAN_PAYLOAD),
    Column::number("in flight").term(&IN_FLIGHT),
    Column::number("window").meaning("The largest that the receiver announced"),
    Column::number("out of order").term(&OUT_OF_ORDER),
];

/// Writes the table, and the number of connections without a row.
pub(super) fn draw(out: &mut dyn Write, report: &PacketReport) -> io::Result<()> {
    bar::key(out, &[("limited", &RECEIVER_LIMITED), ("busy", &BUSY), ("idle", &IDLE)])?;
    table::head(out, "Connections", &COLUMNS)?;
    report.connections.iter().try_for_each(|connection| rows(out, connection))?;
    table::foot(out)?;
    if report.connections_without_row > 0 {
        writeln!(
            out,
            "<p class=\"soft\">{} more with fewer bytes: counted in all figures, without a row here.</p>",
            counted(report.connections_without_row, "connection")
        )?;
    }
    Ok(())
}

fn rows(out: &mut dyn Write, connection: &ConnectionReport) -> io::Result<()> {
    write!(
        out,
        "<tbody><tr><th scope=\"rowgroup\" rowspan=\"2\"><code>{}</code><br><code>→ {}</code><small>{}</small></th>",
        Markup(&connection.client),
        Markup(&connection.broker),
        Markup(&facts(connection))
    )?;
    direction(out, Side::Client, &connection.from_client, Some(connection))?;
    write!(out, "</tr>\n<tr>")?;
    direction(out, Side::Broker, &connection.from_broker, None)?;
    writeln!(out, "</tr></tbody>")
}

/// Returns facts such as `AMQP 0-9-1, 2 channels, 12.3 s, joined in the middle`.
fn facts(connection: &ConnectionReport) -> String {
    let mut facts = Vec::new();
    let protocol = connection.protocol.as_str();
    facts.push(if protocol.is_empty() { "unknown protocol" } else { protocol }.to_owned());
    if connection.channels > 0 {
        facts.push(counted(connection.channels, "channel"));
    }
    let nanos = connection.last.since(connection.first).as_nanos();
    facts.push(short_time(u64::try_from(nanos).unwrap_or(u64::MAX)));
    if !connection.from_the_start {
        facts.push("joined in the middle".to_owned());
    }
    if !connection.ended.is_empty() {
        facts.push(connection.ended.clone());
    }
    facts.join(", ")
}

/// Writes the cells of a direction; those of the whole connection are in the first one.
fn direction(
    out: &mut dyn Write,
    side: Side,
    sent: &DirectionReport,
    connection: Option<&ConnectionReport>,
) -> io::Result<()> {
    write!(out, "<td class=\"left\">{}</td><td class=\"left\">", words::side(side))?;
    limits(out, sent)?;
    write!(out, "</td>")?;
    trouble(out, sent)?;
    if let Some(connection) = connection {
        write!(out, "<td class=\"left\" rowspan=\"2\">{}</td>", latencies(connection))?;
    }
    write!(
        out,
        "<td>{}</td><td>{}</td><td>{}</td><td>{}</td><td title=\"{}\">{}</td><td>{}</td><td>{}</td><td>{}</td>",
        round_trips(&sent.round_trips),
        human_bytes(sent.payload_bytes),
        grouped(sent.data_segments),
        grouped(sent.pure_acks),
        max_segment_size(sent),
        human_bytes(sent.median_payload),
        human_bytes(sent.max_in_flight),
        bytes_or_dash(sent.max_window),
        rare(sent.out_of_order, grouped),
    )
}

fn limits(out: &mut dyn Write, sent: &DirectionReport) -> io::Result<()> {
    let limited = bounded(sent.limits.receiver_window);
    let busy = (bounded(sent.limits.busy) - limited).max(0.0);
    bar::stacked(
        out,
        &[
            Part { class: "limited", term: &RECEIVER_LIMITED, share: limited },
            Part { class: "busy", term: &BUSY, share: busy },
            Part { class: "idle", term: &IDLE, share: bounded(sent.limits.idle) },
        ],
    )
}

/// Writes the cells that should be zero: time without room, retransmitted bytes, stalls.
fn trouble(out: &mut dyn Write, sent: &DirectionReport) -> io::Result<()> {
    let no_room = rare(sent.zero_window_nanos, |nanos| {
        let longest = short_time(sent.longest_zero_window_nanos);
        let times = grouped(sent.zero_windows);
        format!("<b>{}</b><small>{times} ×, longest {longest}</small>", short_time(nanos))
    });
    let again = rare(sent.retransmitted_segments, |segments| {
        let part = percent(share(segments, sent.data_segments));
        let bytes = human_bytes(sent.retransmitted_bytes);
        format!("<b>{part}</b><small>{}, {bytes}</small>", grouped(segments))
    });
    let stalls = rare(sent.delayed_ack_stalls, |count| format!("<b>{}</b>", grouped(count)));
    write!(out, "<td>{no_room}</td><td>{again}</td><td>{stalls}</td>")
}

fn latencies(connection: &ConnectionReport) -> String {
    let measured = connection.latencies.iter().filter(|latency| latency.percentiles.count > 0);
    let lines = measured.map(|latency| {
        format!(
            "{} {} <span class=\"soft\">p99 {}</span>",
            words::latency(latency.kind),
            short_time(latency.percentiles.p50),
            short_time(latency.percentiles.p99)
        )
    });
    lines.collect::<Vec<_>>().join("<br>")
}

fn max_segment_size(sent: &DirectionReport) -> String {
    let announced = sent
        .max_segment_size
        .map(|size| format!("The sender takes segments of {} at most", grouped(size.into())));
    announced.unwrap_or_else(|| "The largest segment was not announced in the capture".to_owned())
}
