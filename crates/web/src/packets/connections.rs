//! Connections: a row for each direction, with the limits of its sender first.

use rabbitscope_text::{Unit, counted, grouped, human_bytes, short_time};
use rabbitscope_wire::report::{ConnectionReport, DirectionReport, PacketReport, Side};

use super::{
    figures::{bounded, number, percent, rare, round_trips, share},
    words::{
        self, BUSY, DELAYED_ACK, IDLE, IN_FLIGHT, MEDIAN_PAYLOAD, OUT_OF_ORDER, PURE_ACK,
        RECEIVER_LIMITED, RETRANSMITTED, ROUND_TRIP, ZERO_WINDOW,
    },
};
use crate::document::{Block, Cell, Column, Content, Hue, Sentence, Table, Tone};

const COLUMNS: [Column; 15] = [
    Column::text("connection"),
    Column::text("sender"),
    Column::text("limits").meaning("Receiver-limited, otherwise busy, idle: shares of the time"),
    Column::number("no room").meaning(ZERO_WINDOW.meaning),
    Column::number("retransmitted").meaning(RETRANSMITTED.meaning),
    Column::number("stalls").meaning(DELAYED_ACK.meaning),
    Column::text("latencies").meaning("Median and 99th percentile on the wire"),
    Column::number("round trip").meaning(ROUND_TRIP.meaning),
    Column::number("payload").meaning("Bytes of payload, including repeated ones"),
    Column::number("segments").meaning("Segments with payload"),
    Column::number("acks alone").meaning(PURE_ACK.meaning),
    Column::number("median").meaning(MEDIAN_PAYLOAD.meaning),
    Column::number("in flight").meaning(IN_FLIGHT.meaning),
    Column::number("window").meaning("The largest that the receiver announced"),
    Column::number("out of order").meaning(OUT_OF_ORDER.meaning),
];

/// Returns the table, and the number of connections without a row.
pub(super) fn blocks(report: &PacketReport) -> Vec<Block> {
    if report.connections.is_empty() {
        return Vec::new();
    }
    let table = Table {
        label: "Connections",
        key: vec![RECEIVER_LIMITED.key(Hue::BAD), BUSY.key(Hue::series(0)), IDLE.key(Hue::SOFT)],
        columns: COLUMNS.into(),
        rows: report.connections.iter().flat_map(rows).collect(),
        ..Table::default()
    };
    let without_row = (report.connections_without_row > 0).then(|| {
        let text = format!(
            "{} more with fewer bytes count in all figures, but have no row here.",
            counted(report.connections_without_row, "connection")
        );
        Block::sentences("connections-without-row", vec![Sentence::new(text, Tone::Soft)])
    });
    let table = Block::new("connections-table", Content::Table(table));
    std::iter::once(table).chain(without_row).collect()
}

fn rows(connection: &ConnectionReport) -> [Vec<Cell>; 2] {
    let name = format!("{}\n→ {}", connection.client, connection.broker);
    let name = Cell::code(name).small(facts(connection)).covers(2);
    let latencies = Cell::text(latencies(connection)).covers(2);
    let client = direction(Side::Client, &connection.from_client, Some(latencies));
    let first = std::iter::once(name).chain(client).collect();
    [first, direction(Side::Broker, &connection.from_broker, None)]
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

/// Returns the cells of a direction; those of the whole connection are in the first one.
fn direction(side: Side, sent: &DirectionReport, latencies: Option<Cell>) -> Vec<Cell> {
    let bytes = |bytes: u64| Cell::figure(bytes as f64, Unit::Bytes);
    let [no_room, again, stalls] = trouble(sent);
    let before = [Cell::text(words::side(side)), limits(sent), no_room, again, stalls];
    let after = [
        Cell::text(round_trips(&sent.round_trips)),
        bytes(sent.payload_bytes),
        number(sent.data_segments),
        number(sent.pure_acks),
        bytes(sent.median_payload).meaning(max_segment_size(sent)),
        bytes(sent.max_in_flight),
        Cell::known(sent.max_window.map(|window| window as f64), Unit::Bytes),
        rare(number(sent.out_of_order), sent.out_of_order),
    ];
    before.into_iter().chain(latencies).chain(after).collect()
}

fn limits(sent: &DirectionReport) -> Cell {
    let limited = bounded(sent.limits.receiver_window);
    let busy = (bounded(sent.limits.busy) - limited).max(0.0);
    let idle = bounded(sent.limits.idle);
    Cell::shares(vec![(Hue::BAD, limited), (Hue::series(0), busy), (Hue::SOFT, idle)])
}

/// Returns the cells that should be zero: time without room, retransmitted bytes, stalls.
fn trouble(sent: &DirectionReport) -> [Cell; 3] {
    let no_room = Cell::figure(sent.zero_window_nanos as f64, Unit::Nanos).small(format!(
        "{} ×, longest {}",
        grouped(sent.zero_windows),
        short_time(sent.longest_zero_window_nanos)
    ));
    let part = share(sent.retransmitted_segments, sent.data_segments);
    let again = Cell::text(percent(part)).small(format!(
        "{}, {}",
        grouped(sent.retransmitted_segments),
        human_bytes(sent.retransmitted_bytes)
    ));
    [
        rare(no_room, sent.zero_window_nanos),
        rare(again, sent.retransmitted_segments),
        rare(number(sent.delayed_ack_stalls), sent.delayed_ack_stalls),
    ]
}

fn latencies(connection: &ConnectionReport) -> String {
    let measured = connection.latencies.iter().filter(|latency| latency.percentiles.count > 0);
    let lines = measured.map(|latency| {
        format!(
            "{} {}, p99 {}",
            words::latency(latency.kind),
            short_time(latency.percentiles.p50),
            short_time(latency.percentiles.p99)
        )
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn max_segment_size(sent: &DirectionReport) -> String {
    let announced = sent
        .max_segment_size
        .map(|size| format!("The sender takes segments of {} at most", grouped(size.into())));
    announced.unwrap_or_else(|| "The largest segment was not announced in the capture".to_owned())
}
