//! The packets of a run in short: the main figures, the findings, and the missing sources. The page about packets has
//! the rest.

use rabbitscope_runs::record::RunRecord;
use rabbitscope_text::{Percentiles, Unit, counted, grouped, human_bytes, short_time};
use rabbitscope_wire::report::{LatencyReport, PacketReport, SourceLevel, Totals, ZeroWindowTime};
use serde::Serialize;

use crate::{
    checks::capitalised,
    document::FindingData,
    figures::{Detail, Figure},
    packets::latency,
};

/// The packets of a run.
#[derive(Clone, Copy, Debug)]
pub struct RunPackets<'a> {
    /// Contents of `packets.json`.
    pub report: &'a PacketReport,
    /// Path of the page about packets, relative to the report; absent if it is not beside it.
    pub page: Option<&'a str>,
}

#[derive(Serialize)]
pub(crate) struct PacketsData<'a> {
    page: Option<&'a str>,
    /// A sentence about the capture, and one about the part of a latency between the broker's packets.
    sentences: Vec<String>,
    figures: Vec<Figure>,
    findings: Vec<FindingData>,
    /// Missing sources, with the reasons.
    missing: Vec<String>,
}

impl<'a> PacketsData<'a> {
    pub(crate) fn new(packets: &RunPackets<'a>, run: Option<&RunRecord>) -> Self {
        let report = packets.report;
        let captured = captured(report);
        let share = run.and_then(confirm_share);
        Self {
            page: packets.page,
            sentences: captured.into_iter().chain(share).collect(),
            figures: figures(report),
            findings: report.findings.iter().map(FindingData::new).collect(),
            missing: missing(report),
        }
    }
}

fn captured(report: &PacketReport) -> Option<String> {
    let capture = report.capture.as_ref()?;
    let lost = match capture.dropped {
        Some(0) => "none was lost".to_owned(),
        Some(dropped) => format!("{} were lost", grouped(dropped)),
        None => "losses were not counted".to_owned(),
    };
    Some(format!(
        "{} of {}, {} on the wire in {}; {lost}.",
        counted(capture.packets, "packet"),
        counted(report.totals.connections, "connection"),
        human_bytes(capture.bytes),
        short_time(report.totals.duration_nanos),
    ))
}

fn confirm_share(run: &RunRecord) -> Option<String> {
    let [wire, whole] = run.confirm_medians()?;
    let share = 100.0 * wire as f64 / whole as f64;
    Some(format!(
        "Half of the confirms took the broker at most {} from packet to packet: {share:.0} % of the {} that the load \
         generator measured.",
        short_time(wire),
        short_time(whole)
    ))
}

fn missing(report: &PacketReport) -> Vec<String> {
    let missing = report.sources.iter().filter(|source| !source.present);
    let line = |source: &rabbitscope_wire::report::Source| {
        let what = match source.level {
            SourceLevel::Packets => "No packets were captured",
            SourceLevel::Sockets => "Sockets were not seen",
            SourceLevel::Writes => "Sizes of writes and reads were not seen",
        };
        format!("{what}: {}", source.note)
    };
    missing.map(line).collect()
}

fn figures(report: &PacketReport) -> Vec<Figure> {
    let measured =
        report.latencies.iter().filter(|latency| latency.percentiles.count > 0).map(latency_figure);
    let Totals { client_zero_window, broker_zero_window, .. } = &report.totals;
    let others = [
        segments_per_publish(&report.totals),
        retransmitted(&report.totals),
        zero_window("Client without room", client_zero_window),
        zero_window("Broker without room", broker_zero_window),
    ];
    measured.chain(others.into_iter().flatten()).collect()
}

fn latency_figure(report: &LatencyReport) -> Figure {
    let nanos = |name: &'static str, value: u64| Detail::new(name, value as f64, Unit::Nanos);
    let Percentiles { count, p50, p99, max, .. } = report.percentiles;
    Figure {
        name: capitalised(latency(report.kind)),
        meaning: "Median on the wire, from the last byte of one frame to the last byte of the other.",
        value: p50 as f64,
        unit: Unit::Nanos,
        of: None,
        details: vec![
            nanos("p99", p99),
            nanos("max", max),
            Detail::new("measured", count as f64, Unit::Things),
        ],
    }
}

fn segments_per_publish(totals: &Totals) -> Option<Figure> {
    (totals.published > 0).then(|| Figure {
        name: "Segments a publish".to_owned(),
        meaning: "Segments with a publish or part of it, divided by publishes. 3 is a segment for each frame.",
        value: totals.publish_segments as f64 / totals.published as f64,
        unit: Unit::Things,
        of: None,
        details: vec![
            Detail::new("published", totals.published as f64, Unit::Things),
            Detail::new("delivered", totals.delivered as f64, Unit::Things),
        ],
    })
}

fn retransmitted(totals: &Totals) -> Option<Figure> {
    (totals.data_segments > 0).then(|| Figure {
        name: "Retransmitted".to_owned(),
        meaning: "Segments that repeat bytes.",
        value: totals.retransmitted_segments as f64,
        unit: Unit::Things,
        of: None,
        details: vec![
            Detail::new("of segments", totals.data_segments as f64, Unit::Things),
            Detail::new("round trip", totals.round_trips.mean as f64, Unit::Nanos),
        ],
    })
}

/// Returns the longest zero window; absent if there was room at all times.
fn zero_window(name: &'static str, time: &ZeroWindowTime) -> Option<Figure> {
    (time.longest_nanos > 0).then(|| Figure {
        name: name.to_owned(),
        meaning: "The longest time in which a receiver announced an empty window.",
        value: time.longest_nanos as f64,
        unit: Unit::Nanos,
        of: None,
        details: vec![
            Detail::new("in all", time.sum_nanos as f64, Unit::Nanos),
            Detail::new("connections", time.connections as f64, Unit::Things),
        ],
    })
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::record::{LatencyFigures, LatencySummary, PacketFacts};
    use rabbitscope_wire::report::{CaptureReport, LatencyKind, Source, Unmatched};

    use super::*;

    fn data(report: &PacketReport, run: &RunRecord) -> serde_json::Value {
        let packets = RunPackets { report, page: Some("packets.html") };
        serde_json::to_value(PacketsData::new(&packets, Some(run))).unwrap()
    }

    #[test]
    fn what_was_captured_and_which_part_is_the_brokers() {
        let run = RunRecord {
            packets: Some(PacketFacts {
                publish_to_confirm_p50: Some(150_000),
                captured_nanos: Some(1_000_000_000),
                ..PacketFacts::default()
            }),
            latencies: vec![LatencySummary {
                figures: LatencyFigures {
                    name: "confirm".to_owned(),
                    percentiles: Percentiles { p50: 200_000, ..Percentiles::default() },
                    ..LatencyFigures::default()
                },
                ..LatencySummary::default()
            }],
            ..RunRecord::default()
        };
        let report = PacketReport {
            capture: Some(CaptureReport {
                packets: 2000,
                bytes: 1024,
                dropped: Some(7),
                ..CaptureReport::default()
            }),
            totals: Totals {
                connections: 1,
                published: 10,
                publish_segments: 30,
                duration_nanos: 1_000_000_000,
                ..Totals::default()
            },
            latencies: vec![LatencyReport {
                kind: LatencyKind::PublishToConfirm,
                mean: 0.0,
                min: 1,
                percentiles: Percentiles {
                    count: 10,
                    p50: 150_000,
                    p95: 2,
                    p99: 3,
                    p999: 4,
                    p9999: 5,
                    max: 5,
                },
                unmatched: Unmatched::default(),
            }],
            ..PacketReport::default()
        };
        let data = data(&report, &run);
        assert_eq!(
            data["sentences"][0],
            "2,000 packets of 1 connection, 1.0 KiB on the wire in 1.00 s; 7 were lost."
        );
        assert!(data["sentences"][1].as_str().unwrap().contains("75 % of the 200 µs"), "{data}");
        let names: Vec<_> =
            data["figures"].as_array().unwrap().iter().map(|figure| &figure["name"]).collect();
        assert_eq!(names, ["Publish → confirm", "Segments a publish"]);
        assert_eq!(data["figures"][1]["value"], 3.0);
    }

    /// There is no sentence for different seconds, or for a part that is larger than the whole.
    #[test]
    fn shares_are_of_the_same_seconds() {
        let run = |captured_nanos, part, warm_up_nanos| {
            let figures = LatencyFigures {
                name: "confirm".to_owned(),
                percentiles: Percentiles { p50: 871_000, ..Percentiles::default() },
                ..LatencyFigures::default()
            };
            let mut run = RunRecord {
                packets: Some(PacketFacts {
                    publish_to_confirm_p50: Some(part),
                    captured_nanos,
                    ..PacketFacts::default()
                }),
                latencies: vec![LatencySummary { figures, ..LatencySummary::default() }],
                ..RunRecord::default()
            };
            run.measured.warm_up_nanos = warm_up_nanos;
            run.measured.duration_nanos = 10_000_000_000;
            confirm_share(&run).is_some()
        };
        assert!(run(Some(9_500_000_000), 800_000, 0));
        assert!(!run(Some(9_500_000_000), 952_000, 0));
        assert!(!run(Some(5_000_000_000), 800_000, 0));
        assert!(!run(Some(9_500_000_000), 800_000, 1));
        assert!(!run(None, 800_000, 0));
    }

    #[test]
    fn what_is_missing_has_its_reason() {
        let source = |level, present: bool| Source { level, present, note: "not permitted".into() };
        let report = PacketReport {
            sources: vec![source(SourceLevel::Sockets, true), source(SourceLevel::Packets, false)],
            ..PacketReport::default()
        };
        let data = data(&report, &RunRecord::default());
        assert_eq!(data["missing"], serde_json::json!(["No packets were captured: not permitted"]));
        assert_eq!(
            (&data["sentences"], &data["figures"]),
            (&serde_json::json!([]), &serde_json::json!([]))
        );
    }
}
