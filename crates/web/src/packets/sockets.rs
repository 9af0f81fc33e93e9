//! The kernel's view of sockets: the side that each sender waits for.

use std::io::{self, Write};

use rabbitscope_text::{grouped, human_bytes, short_time};
use rabbitscope_wire::report::{PacketReport, SocketReport};

use super::{
    bar::{self, Part},
    figures::{bounded, bytes_or_dash, number_or_dash, rare},
    table::{self, Column},
    words::{
        BUSY, RECEIVER_LIMITED, RETRANSMITTED, ROUND_TRIP, SEND_BUFFER_LIMITED, UNREAD, UNSENT,
    },
};
use crate::escape::Markup;

const COLUMNS: [Column; 10] = [
    Column::text("socket"),
    Column::text("limits")
        .meaning("Receiver-limited, send-buffer-limited, otherwise busy: shares of the time"),
    Column::number("unsent").term(&UNSENT),
    Column::number("unread").term(&UNREAD),
    Column::number("retransmitted").term(&RETRANSMITTED),
    Column::number("round trip").term(&ROUND_TRIP),
    Column::number("sent"),
    Column::number("segments").meaning("Segments with payload that this end sent"),
    Column::number("received"),
    Column::number("segments").meaning("Segments with payload that this end received"),
];

/// Writes a row for each socket, in the order of the report.
pub(super) fn draw(out: &mut dyn Write, report: &PacketReport) -> io::Result<()> {
    bar::key(
        out,
        &[("limited", &RECEIVER_LIMITED), ("buffer", &SEND_BUFFER_LIMITED), ("busy", &BUSY)],
    )?;
    table::head(out, "Sockets", &COLUMNS)?;
    writeln!(out, "<tbody>")?;
    report.sockets.iter().try_for_each(|socket| row(out, socket))?;
    writeln!(out, "</tbody>")?;
    table::foot(out)
}

fn row(out: &mut dyn Write, socket: &SocketReport) -> io::Result<()> {
    write!(
        out,
        "<tr><th scope=\"row\"><code>{}</code><br><code>⇄ {}</code><small>{} end, observed for {}</small></th>\
         <td class=\"left\">",
        Markup(&socket.local),
        Markup(&socket.remote),
        if socket.of_broker { "broker's" } else { "client's" },
        short_time(socket.observed_nanos)
    )?;
    limits(out, socket)?;
    let trip = socket.min_round_trip_nanos.map_or_else(|| "–".to_owned(), short_time);
    let bold = |number| format!("<b>{}</b>", grouped(number));
    writeln!(
        out,
        "</td><td>{}</td><td>{}</td><td>{}</td><td>{trip}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
        waiting(socket.max_unsent_bytes),
        waiting(socket.max_unread_bytes),
        socket.retransmitted.map_or_else(|| "–".to_owned(), |number| rare(number, bold)),
        bytes_or_dash(socket.sent_bytes),
        number_or_dash(socket.data_segments_sent),
        bytes_or_dash(socket.received_bytes),
        number_or_dash(socket.data_segments_received),
    )
}

fn waiting(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| "–".to_owned(), |bytes| rare(bytes, human_bytes))
}

/// Draws the limits. The kernel's busy time includes both others.
fn limits(out: &mut dyn Write, socket: &SocketReport) -> io::Result<()> {
    let [busy, limited, buffer] =
        [socket.busy, socket.receiver_limited, socket.send_buffer_limited];
    if busy.is_none() && limited.is_none() && buffer.is_none() {
        return write!(out, "<span class=\"soft\">not known</span>");
    }
    let [busy, limited, buffer] =
        [busy, limited, buffer].map(|share| bounded(share.unwrap_or(0.0)));
    bar::stacked(
        out,
        &[
            Part { class: "limited", term: &RECEIVER_LIMITED, share: limited },
            Part { class: "buffer", term: &SEND_BUFFER_LIMITED, share: buffer },
            Part { class: "busy", term: &BUSY, share: (busy - limited - buffer).max(0.0) },
        ],
    )
}
