//! What the capture itself lost.

use super::hit::{Hit, share};
use crate::report::{PacketReport, Severity, SourceLevel};

/// The kernel dropped packets because nobody read them in time.
pub(super) fn capture_loss(report: &PacketReport) -> Vec<Hit> {
    let Some(capture) = &report.capture else { return Vec::new() };
    let dropped = capture.dropped.unwrap_or(0);
    if dropped == 0 {
        return Vec::new();
    }
    vec![Hit {
        severity: Severity::Warning,
        weight: dropped as f64,
        connection: "all".to_owned(),
        source: SourceLevel::Packets,
        evidence: format!(
            "{dropped} packets were dropped beside {} that were read ({:.2} %)",
            capture.packets,
            100.0 * share(dropped, dropped + capture.packets)
        ),
        packets: Vec::new(),
    }]
}
