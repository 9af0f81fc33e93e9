//! What the analysis is to look for, and how much of it to keep.

use super::redaction::Payload;

/// What the analysis is to look for, and how much of it to keep.
#[derive(Clone, Debug)]
pub struct AnalyzerOptions {
    /// What is looked at, in words, for the report.
    pub subject: String,
    /// Ports of the broker. Segments of other ports are counted and left out; none: all are analyzed, and who is the broker
    /// is told by who opened the connection.
    pub ports: Vec<u16>,
    /// Connections with a row of their own in the report.
    pub max_rows: usize,
    /// What is written of packets, where they are written again.
    pub written: Option<Payload>,
}

impl AnalyzerOptions {
    /// All ports, a thousand rows.
    pub fn new(subject: impl Into<String>) -> Self {
        Self { subject: subject.into(), ports: Vec::new(), max_rows: 1_000, written: None }
    }
}

/// Ports that brokers listen on unless told otherwise: AMQP, streams, MQTT, STOMP, and the same with TLS.
const USUAL_PORTS: [u16; 8] = [5672, 5671, 5552, 5551, 1883, 8883, 61613, 61614];

impl AnalyzerOptions {
    /// Whether a segment between these ports is analyzed.
    pub(super) fn has_port(&self, one: u16, other: u16) -> bool {
        self.ports.is_empty() || self.ports.contains(&one) || self.ports.contains(&other)
    }

    /// Which of two ports is the broker's, where that can be told without having seen who opened the connection.
    pub(super) fn is_broker(&self, port: u16) -> bool {
        if self.ports.is_empty() { USUAL_PORTS.contains(&port) } else { self.ports.contains(&port) }
    }
}
