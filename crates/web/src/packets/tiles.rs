//! The key figures by subject: the network, the clients, the broker.

use rabbitscope_text::{Percentiles, Unit};
use rabbitscope_wire::report::{LatencyKind, PacketReport, Totals, ZeroWindowTime};

use super::{
    figures::share,
    words::{self, RETRANSMITTED, ROUND_TRIP, ZERO_WINDOW},
};
use crate::{
    checks::capitalised,
    document::{Block, Content},
    figures::{Detail, Figure},
};

/// Returns a block for each subject. A figure without observations has no tile.
pub(super) fn blocks(report: &PacketReport) -> Vec<Block> {
    let totals = &report.totals;
    if totals.segments == 0 {
        return Vec::new();
    }
    let latency = |kind| latency(report, kind);
    let confirm = latency(LatencyKind::PublishToConfirm);
    let clients = [
        segments_per_publish(totals),
        latency(LatencyKind::DeliverToAck),
        latency(LatencyKind::RequestToReply),
        latency(LatencyKind::ServiceTime),
        Some(zero_window(&totals.client_zero_window)),
    ];
    let broker = [
        confirm.or_else(|| latency(LatencyKind::PublishToConfirmAtLeast)),
        latency(LatencyKind::Method),
        Some(zero_window(&totals.broker_zero_window)),
    ];
    vec![
        block("Network", [round_trip(totals), retransmitted(totals)]),
        block("Clients", clients),
        block("Broker", broker),
    ]
}

fn block(label: &'static str, figures: impl IntoIterator<Item = Option<Figure>>) -> Block {
    let figures = figures.into_iter().flatten().collect();
    Block::new(format!("tiles-{label}"), Content::Tiles { label, figures })
}

fn figure(
    name: &str,
    meaning: &'static str,
    (value, unit): (f64, Unit),
    details: Vec<Detail>,
) -> Figure {
    Figure { name: name.to_owned(), meaning, value, unit, of: None, details }
}

fn nanos(name: &'static str, nanos: u64) -> Detail {
    Detail::new(name, nanos as f64, Unit::Nanos)
}

fn number(name: &'static str, count: u64) -> Detail {
    Detail::new(name, count as f64, Unit::Things)
}

fn round_trip(totals: &Totals) -> Option<Figure> {
    let trips = &totals.round_trips;
    let details = vec![nanos("mean", trips.mean), nanos("largest", trips.max)];
    let value = (trips.min as f64, Unit::Nanos);
    (trips.count > 0).then(|| figure("Smallest round trip", ROUND_TRIP.meaning, value, details))
}

fn retransmitted(totals: &Totals) -> Option<Figure> {
    let (part, whole) = (totals.retransmitted_segments, totals.data_segments);
    let details = vec![number("segments", part), number("of segments with payload", whole)];
    let value = (share(part, whole), Unit::Share);
    (whole > 0).then(|| figure("Retransmitted", RETRANSMITTED.meaning, value, details))
}

fn segments_per_publish(totals: &Totals) -> Option<Figure> {
    let (segments, published) = (totals.publish_segments, totals.published);
    let meaning = "Segments with a publish or part of it, divided by publishes. Below 1 the client batches; 3 is a \
                   segment for each frame.";
    let details = vec![number("segments", segments), number("published", published)];
    let value = (segments as f64 / published as f64, Unit::Things);
    (published > 0).then(|| figure("Segments a publish", meaning, value, details))
}

fn latency(report: &PacketReport, kind: LatencyKind) -> Option<Figure> {
    let found = report
        .latencies
        .iter()
        .find(|latency| latency.kind == kind && latency.percentiles.count > 0)?;
    let Percentiles { count, p50, p99, .. } = found.percentiles;
    let details = vec![nanos("p99", p99), number("measured", count)];
    let meaning = "Median and 99th percentile on the wire.";
    Some(figure(&capitalised(words::latency(kind)), meaning, (p50 as f64, Unit::Nanos), details))
}

fn zero_window(time: &ZeroWindowTime) -> Figure {
    let details = match time.connections {
        0 => Vec::new(),
        count => vec![nanos("in all", time.sum_nanos), number("connections", count)],
    };
    let value = (time.longest_nanos as f64, Unit::Nanos);
    figure("Longest zero window", ZERO_WINDOW.meaning, value, details)
}
