//! Options of the analysis: its subject, and the limits of its results.

use super::redaction::Payload;

/// Options of the analysis.
#[derive(Clone, Debug)]
pub struct AnalyzerOptions {
    /// Subject of the analysis, in words, for the report.
    pub subject: String,
    /// Ports of the broker. Segments of other ports are counted but not analyzed. If empty, all are analyzed, and the
    /// end that opened the connection is the client.
    pub ports: Vec<u16>,
    /// Number of connections with a row of their own in the report.
    pub max_rows: usize,
    /// The part of the packets to write, if packets are written again.
    pub written: Option<Payload>,
}

impl AnalyzerOptions {
    /// Creates options for all ports and a thousand rows.
    pub fn new(subject: impl Into<String>) -> Self {
        Self { subject: subject.into(), ports: Vec::new(), max_rows: 1_000, written: None }
    }
}

/// Default ports of brokers: AMQP, streams, MQTT, STOMP, and the same with TLS.
const USUAL_PORTS: [u16; 8] = [5672, 5671, 5552, 5551, 1883, 8883, 61613, 61614];

impl AnalyzerOptions {
    /// Returns whether a segment between these ports is analyzed.
    pub(super) fn has_port(&self, one: u16, other: u16) -> bool {
        self.ports.is_empty() || self.ports.contains(&one) || self.ports.contains(&other)
    }

    /// Returns whether a port is the broker's, judged without the opening of the connection.
    pub(super) fn is_broker(&self, port: u16) -> bool {
        if self.ports.is_empty() { USUAL_PORTS.contains(&port) } else { self.ports.contains(&port) }
    }
}
