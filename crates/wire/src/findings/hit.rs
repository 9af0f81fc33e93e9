//! A connection that shows the symptom of a rule, and the amount of evidence.

use super::advice::Advice;
use crate::report::{ConnectionReport, DirectionReport, PacketReport, Severity, Side, SourceLevel};

/// A connection that shows the symptom of a rule.
pub(super) struct Hit {
    pub(super) severity: Severity,
    /// The larger, the worse. The worst hit gives the evidence.
    pub(super) weight: f64,
    /// `client -> broker`; several if they all show the same.
    pub(super) connections: Vec<String>,
    /// Number of connections in all.
    pub(super) connections_in_all: u64,
    /// Source of the evidence.
    pub(super) source: SourceLevel,
    /// The figures, in words.
    pub(super) evidence: String,
    /// Numbers of the packets that show it.
    pub(super) packets: Vec<u64>,
    /// Sentence and remedy. Hits with the same advice are one finding.
    pub(super) advice: Advice,
}

/// A connection that a rule examined.
pub(super) struct Case {
    /// Amount of evidence, in the unit of the rule's minimum.
    pub(super) count: u64,
    /// Time observed, in nanoseconds.
    pub(super) nanos: u64,
    pub(super) hit: Option<Hit>,
}

/// One direction of a connection, with the context that rules need.
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

    /// Returns events per second of the connection's time.
    pub(super) fn rate(&self, events: u64) -> f64 {
        let seconds = self.nanos() as f64 / 1e9;
        if seconds > 0.0 { events as f64 / seconds } else { 0.0 }
    }

    pub(super) fn nanos(&self) -> u64 {
        nanos(self.connection)
    }

    /// Creates a hit of this connection alone, from packets.
    pub(super) fn hit(
        &self,
        severity: Severity,
        weight: f64,
        evidence: String,
        advice: Advice,
    ) -> Hit {
        Hit {
            severity,
            weight,
            connections: vec![self.connection.label()],
            connections_in_all: 1,
            source: SourceLevel::Packets,
            evidence,
            packets: Vec::new(),
            advice,
        }
    }

    /// Creates a case with `count` in the connection's time.
    pub(super) fn case(&self, count: u64, hit: Option<Hit>) -> Case {
        Case { count, nanos: self.nanos(), hit }
    }
}

impl Hit {
    pub(super) fn with_packets(self, packets: &[u64]) -> Self {
        Self { packets: packets.to_vec(), ..self }
    }
}

impl ConnectionReport {
    /// Returns the name in findings and pictures: `client -> broker`.
    pub fn label(&self) -> String {
        format!("{} -> {}", self.client, self.broker)
    }
}

/// Returns the time for which a connection was seen, in nanoseconds.
pub(super) fn nanos(connection: &ConnectionReport) -> u64 {
    u64::try_from(connection.last.since(connection.first).as_nanos()).unwrap_or(u64::MAX)
}

/// Returns both directions of every connection.
pub(super) fn directions(report: &PacketReport) -> impl Iterator<Item = Direction<'_>> {
    report.connections.iter().flat_map(|connection| {
        [
            Direction { connection, from: Side::Client, figures: &connection.from_client },
            Direction { connection, from: Side::Broker, figures: &connection.from_broker },
        ]
    })
}

/// Returns a share of a whole, 0 to 1; 0 if the whole is 0.
pub(super) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
