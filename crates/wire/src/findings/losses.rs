//! What was lost: by the capture, and on the way.

use super::{
    advice,
    hit::{Case, Direction, Hit, directions, share},
};
use crate::report::{PacketReport, Severity, SourceLevel};

/// Share of the segments that are lost.
const LOSSY_SHARE: f64 = 0.001;
/// Segments that are lost, below which chance may be behind it.
const MIN_MISSING: u64 = 5;

/// The kernel dropped packets because they were not read in time.
pub(super) fn capture_loss(report: &PacketReport) -> Result<Vec<Case>, String> {
    let Some(capture) = &report.capture else { return Ok(Vec::new()) };
    let Some(dropped) = capture.dropped else {
        return Err("the file does not say whether packets were dropped".to_owned());
    };
    let hit = (dropped > 0).then(|| Hit {
        severity: Severity::Warning,
        weight: dropped as f64,
        connections: vec!["all".to_owned()],
        connections_in_all: 1,
        source: SourceLevel::Packets,
        evidence: format!(
            "{dropped} packets were dropped beside {} that were read ({:.2} %)",
            capture.packets,
            100.0 * share(dropped, dropped + capture.packets)
        ),
        packets: Vec::new(),
        advice: advice::CAPTURE_LOSS,
    });
    Ok(vec![Case { count: capture.packets, nanos: 0, hit }])
}

/// Segments that did not reach the receiver. Those that it got twice were not lost.
pub(super) fn network_limited(report: &PacketReport) -> Result<Vec<Case>, String> {
    if report.capture.as_ref().is_some_and(|capture| capture.dropped.unwrap_or(0) > 0) {
        return Err("the capture itself lost packets".to_owned());
    }
    let case = |it: Direction<'_>| {
        let figures = it.figures;
        let lost = share(figures.missing_segments, figures.data_segments);
        let is_lossy = figures.missing_segments >= MIN_MISSING && lost >= LOSSY_SHARE;
        let hit = is_lossy.then(|| {
            let evidence = format!(
                "of {} segments from {}, {} were lost and sent again ({:.2} %)",
                figures.data_segments,
                it.sender(),
                figures.missing_segments,
                100.0 * lost,
            );
            it.hit(Severity::Warning, lost, evidence, advice::NETWORK)
        });
        it.case(figures.data_segments, hit)
    };
    Ok(directions(report).map(case).collect())
}
