//! A connection that shows what a rule looks for.

use crate::report::{ConnectionReport, DirectionReport, PacketReport, Severity, Side, SourceLevel};

/// A connection that shows what a rule looks for.
pub(super) struct Hit {
    pub(super) severity: Severity,
    /// The larger, the worse: the worst gives the evidence.
    pub(super) weight: f64,
    /// `client -> broker`.
    pub(super) connection: String,
    /// Where the evidence comes from.
    pub(super) source: SourceLevel,
    /// The figures, in words.
    pub(super) evidence: String,
    /// Numbers of packets that it rests on.
    pub(super) packets: Vec<u64>,
}

/// One direction of a connection, with what it takes to speak of it.
pub(super) struct Direction<'a> {
    pub(super) connection: &'a ConnectionReport,
    pub(super) from: Side,
    pub(super) figures: &'a DirectionReport,
}

impl Direction<'_> {
    pub(super) fn sender(&self) -> &'static str {
        match self.from {
            Side::Client => "the client",
            Side::Broker => "the broker",
        }
    }

    pub(super) fn receiver(&self) -> &'static str {
        match self.from {
            Side::Client => "the broker",
            Side::Broker => "the client",
        }
    }

    /// Of the connection's time, events a second.
    pub(super) fn rate(&self, events: u64) -> f64 {
        let seconds = self.connection.last.since(self.connection.first).as_secs_f64();
        if seconds > 0.0 { events as f64 / seconds } else { 0.0 }
    }
}

impl ConnectionReport {
    /// As findings and pictures name it: `client -> broker`.
    pub fn label(&self) -> String {
        format!("{} -> {}", self.client, self.broker)
    }
}

/// Both directions of every connection.
pub(super) fn directions(report: &PacketReport) -> impl Iterator<Item = Direction<'_>> {
    report.connections.iter().flat_map(|connection| {
        [
            Direction { connection, from: Side::Client, figures: &connection.from_client },
            Direction { connection, from: Side::Broker, figures: &connection.from_broker },
        ]
    })
}

/// A share of a whole, 0 to 1; 0 of nothing.
pub(super) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
