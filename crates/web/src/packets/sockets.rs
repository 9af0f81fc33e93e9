//! The kernel's view of sockets: the side that each sender waits for.

use rabbitscope_text::{Unit, short_time};
use rabbitscope_wire::report::{PacketReport, SocketReport};

use super::{
    figures::{bounded, number, rare},
    words::{
        BUSY, RECEIVER_LIMITED, RETRANSMITTED, ROUND_TRIP, SEND_BUFFER_LIMITED, UNREAD, UNSENT,
    },
};
use crate::document::{Block, Cell, Column, Content, Hue, Table, Tone};

const COLUMNS: [Column; 10] = [
    Column::text("socket"),
    Column::text("limits")
        .meaning("Receiver-limited, send-buffer-limited, otherwise busy: shares of the time"),
    Column::number("unsent").meaning(UNSENT.meaning),
    Column::number("unread").meaning(UNREAD.meaning),
    Column::number("retransmitted").meaning(RETRANSMITTED.meaning),
    Column::number("round trip").meaning(ROUND_TRIP.meaning),
    Column::number("sent"),
    Column::number("segments").meaning("Segments with payload that this end sent"),
    Column::number("received"),
    Column::number("segments").meaning("Segments with payload that this end received"),
];

/// Returns a row for each socket, in the order of the report.
pub(super) fn blocks(report: &PacketReport) -> Vec<Block> {
    if report.sockets.is_empty() {
        return Vec::new();
    }
    let table = Table {
        label: "Sockets",
        key: vec![
            RECEIVER_LIMITED.key(Hue::BAD),
            SEND_BUFFER_LIMITED.key(Hue::series(3)),
            BUSY.key(Hue::series(0)),
        ],
        columns: COLUMNS.into(),
        rows: report.sockets.iter().map(row).collect(),
        ..Table::default()
    };
    vec![Block::new("sockets-table", Content::Table(table))]
}

fn row(socket: &SocketReport) -> Vec<Cell> {
    let end = if socket.of_broker { "broker's" } else { "client's" };
    let observed = format!("{end} end, observed for {}", short_time(socket.observed_nanos));
    let known = |value: Option<u64>, unit| Cell::known(value.map(|value| value as f64), unit);
    let waiting = |bytes: Option<u64>| match bytes {
        Some(0) => number(0).tone(Tone::Soft),
        bytes => known(bytes, Unit::Bytes),
    };
    let again = socket.retransmitted;
    vec![
        Cell::code(format!("{}\n⇄ {}", socket.local, socket.remote)).small(observed),
        limits(socket),
        waiting(socket.max_unsent_bytes),
        waiting(socket.max_unread_bytes),
        again.map_or_else(|| Cell::text("–"), |again| rare(number(again), again)),
        known(socket.min_round_trip_nanos, Unit::Nanos),
        known(socket.sent_bytes, Unit::Bytes),
        known(socket.data_segments_sent, Unit::Things),
        known(socket.received_bytes, Unit::Bytes),
        known(socket.data_segments_received, Unit::Things),
    ]
}

/// Returns the limits. The kernel's busy time includes both others.
fn limits(socket: &SocketReport) -> Cell {
    let [busy, limited, buffer] =
        [socket.busy, socket.receiver_limited, socket.send_buffer_limited];
    if busy.is_none() && limited.is_none() && buffer.is_none() {
        return Cell::text("not known").tone(Tone::Soft);
    }
    let [busy, limited, buffer] =
        [busy, limited, buffer].map(|share| bounded(share.unwrap_or(0.0)));
    let rest = (busy - limited - buffer).max(0.0);
    Cell::shares(vec![(Hue::BAD, limited), (Hue::series(3), buffer), (Hue::series(0), rest)])
}
