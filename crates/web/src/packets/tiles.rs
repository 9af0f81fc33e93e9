//! The key figures by subject: the network, the clients, the broker.

use std::io::{self, Write};

use rabbitscope_text::{Percentiles, counted, grouped, short_time};
use rabbitscope_wire::report::{LatencyKind, PacketReport, Totals, ZeroWindowTime};

use super::{
    figures::{percent, share},
    words::{self, RETRANSMITTED, ROUND_TRIP, ZERO_WINDOW},
};

/// A headline with its detail.
struct Tile {
    name: &'static str,
    meaning: &'static str,
    value: String,
    detail: String,
}

/// Draws three groups of tiles. A figure without observations has no tile.
pub(super) fn draw(out: &mut dyn Write, report: &PacketReport) -> io::Result<()> {
    let totals = &report.totals;
    let latency = |kind| latency(report, kind);
    let groups = [
        ("Network", vec![round_trip(totals), retransmitted(totals)]),
        (
            "Clients",
            vec![
                segments_per_publish(totals),
                latency(LatencyKind::DeliverToAck),
                latency(LatencyKind::RequestToReply),
                latency(LatencyKind::ServiceTime),
                Some(zero_window(&totals.client_zero_window)),
            ],
        ),
        (
            "Broker",
            vec![
                latency(LatencyKind::PublishToConfirm)
                    .or_else(|| latency(LatencyKind::PublishToConfirmAtLeast)),
                latency(LatencyKind::Method),
                Some(zero_window(&totals.broker_zero_window)),
            ],
        ),
    ];
    writeln!(out, "<div class=\"groups\">")?;
    for (name, tiles) in groups {
        writeln!(out, "<section><h3>{name}</h3><div class=\"tiles\">")?;
        tiles.into_iter().flatten().try_for_each(|tile| one(out, &tile))?;
        writeln!(out, "</div></section>")?;
    }
    writeln!(out, "</div>")
}

fn one(out: &mut dyn Write, tile: &Tile) -> io::Result<()> {
    let Tile { name, meaning, value, detail } = tile;
    writeln!(
        out,
        "<div class=\"tile\" title=\"{meaning}\"><span>{name}</span><b>{value}</b><small>{detail}</small></div>"
    )
}

fn round_trip(totals: &Totals) -> Option<Tile> {
    let trips = &totals.round_trips;
    (trips.count > 0).then(|| Tile {
        name: "smallest round trip",
        meaning: ROUND_TRIP.meaning,
        value: short_time(trips.min),
        detail: format!("mean {}, largest {}", short_time(trips.mean), short_time(trips.max)),
    })
}

fn retransmitted(totals: &Totals) -> Option<Tile> {
    let (part, whole) = (totals.retransmitted_segments, totals.data_segments);
    (whole > 0).then(|| Tile {
        name: "retransmitted",
        meaning: RETRANSMITTED.meaning,
        value: percent(share(part, whole)),
        detail: format!("{} of {} segments with payload", grouped(part), grouped(whole)),
    })
}

fn segments_per_publish(totals: &Totals) -> Option<Tile> {
    let (segments, published) = (totals.publish_segments, totals.published);
    (published > 0).then(|| Tile {
        name: "segments a publish",
        meaning: "Segments with a publish or part of it, divided by publishes. Below 1 the client batches; 3 is a \
                  segment for each frame.",
        value: format!("{:.2}", segments as f64 / published as f64),
        detail: format!("{}, {} published", counted(segments, "segment"), grouped(published)),
    })
}

fn latency(report: &PacketReport, kind: LatencyKind) -> Option<Tile> {
    let found = report
        .latencies
        .iter()
        .find(|latency| latency.kind == kind && latency.percentiles.count > 0)?;
    let Percentiles { count, p50, p99, .. } = found.percentiles;
    Some(Tile {
        name: words::latency(kind),
        meaning: "Median and 99th percentile on the wire.",
        value: short_time(p50),
        detail: format!("p99 {}, of {}", short_time(p99), grouped(count)),
    })
}

fn zero_window(time: &ZeroWindowTime) -> Tile {
    Tile {
        name: "longest zero window",
        meaning: ZERO_WINDOW.meaning,
        value: if time.longest_nanos == 0 {
            "none".to_owned()
        } else {
            short_time(time.longest_nanos)
        },
        detail: match time.connections {
            0 => "room at all times".to_owned(),
            count => {
                format!("{} in all, {}", short_time(time.sum_nanos), counted(count, "connection"))
            }
        },
    }
}
