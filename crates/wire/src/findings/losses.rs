//! Losses by the capture, and on the network path.

use rabbitscope_text::counted;

use super::{
    advice,
    hit::{Case, Direction, Hit, directions, share},
};
use crate::report::{
    DirectionReport, PacketReport, Severity, Side, SourceLevel, is_within_machine,
};

/// Share of lost segments from which the path is reported.
const LOSSY_SHARE: f64 = 0.001;
/// Minimum of lost segments; fewer may be chance.
const MIN_MISSING: u64 = 5;

/// Returns a reason if the file does not record the losses of its capture.
pub(super) fn without_count(report: &PacketReport) -> Option<&'static str> {
    let capture = report.capture.as_ref()?;
    let is_unknown = capture.dropped.is_none();
    is_unknown.then_some("the file does not say whether packets were dropped")
}

/// Returns a reason if the capture lost packets: these look like segments that the path lost.
pub(super) fn with_loss(report: &PacketReport) -> Option<&'static str> {
    let is_lossy = report.capture.as_ref()?.dropped.unwrap_or(0) > 0;
    is_lossy.then_some("the capture itself lost packets")
}

/// Judges packets that the kernel dropped because they were not read in time.
pub(super) fn capture_loss(report: &PacketReport) -> Vec<Case> {
    let Some(capture) = &report.capture else { return Vec::new() };
    let dropped = capture.dropped.unwrap_or(0);
    let hit = (dropped > 0).then(|| Hit {
        severity: Severity::Warning,
        weight: dropped as f64,
        connections: vec!["all".to_owned()],
        connections_in_all: 1,
        source: SourceLevel::Packets,
        evidence: format!(
            "{} {} dropped beside {} that were read ({:.2} %)",
            counted(dropped, "packet"),
            if dropped == 1 { "was" } else { "were" },
            capture.packets,
            100.0 * share(dropped, dropped + capture.packets)
        ),
        packets: Vec::new(),
        advice: advice::CAPTURE_LOSS,
    });
    vec![Case { count: capture.packets, nanos: 0, hit }]
}

/// Judges segments that did not reach the receiver. Segments that it got twice were not lost. A receiver with a full
/// buffer discards segments, so each zero window accounts for one. Connections within a machine have no way.
pub(super) fn network_limited(report: &PacketReport) -> Vec<Case> {
    let case = |direction: Direction<'_>| {
        let figures = direction.figures;
        let missing = figures.missing_segments.saturating_sub(receiver(&direction).zero_windows);
        let lost = share(missing, figures.data_segments);
        let is_lossy = missing >= MIN_MISSING && lost >= LOSSY_SHARE;
        let hit = is_lossy.then(|| {
            let evidence = format!(
                "of {} segments from {}, {} were lost and sent again ({:.2} %)",
                figures.data_segments,
                direction.sender(),
                missing,
                100.0 * lost,
            );
            direction.hit(Severity::Warning, lost, evidence, advice::NETWORK)
        });
        direction.case(figures.data_segments, hit)
    };
    let has_way = |direction: &Direction<'_>| {
        !is_within_machine(&direction.connection.client, &direction.connection.broker)
    };
    directions(report).filter(has_way).map(case).collect()
}

/// Returns the direction in which the receiver announces its windows.
const fn receiver<'a>(direction: &Direction<'a>) -> &'a DirectionReport {
    match direction.from {
        Side::Client => &direction.connection.from_broker,
        Side::Broker => &direction.connection.from_client,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::ConnectionReport;

    #[test]
    fn a_machine_loses_nothing_on_the_way_to_itself() {
        let hits = |client: &str| {
            let (client, broker) = (client.to_owned(), "192.0.2.2:5672".to_owned());
            let mut row = ConnectionReport { client, broker, ..ConnectionReport::default() };
            (row.from_broker.data_segments, row.from_broker.missing_segments) = (1_000, 20);
            let report = PacketReport { connections: vec![row], ..PacketReport::default() };
            network_limited(&report).iter().filter(|case| case.hit.is_some()).count()
        };
        assert_eq!((hits("192.0.2.1:40000"), hits("192.0.2.2:40000")), (1, 0));
    }
}
