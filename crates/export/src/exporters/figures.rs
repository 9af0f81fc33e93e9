//! What became of what an exporter was given.

use std::collections::BTreeMap;

/// What became of what an exporter was given since the start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExporterFigures {
    /// Name of the exporter.
    pub name: String,
    /// Windows or snapshots that it was given.
    pub offered: u64,
    /// Requests that the backend has accepted.
    pub sent: u64,
    /// Bytes of their bodies.
    pub sent_bytes: u64,
    /// Attempts that failed, by reason.
    pub errors: BTreeMap<&'static str, u64>,
    /// Windows or snapshots that are lost, by reason.
    pub dropped: BTreeMap<&'static str, u64>,
    /// Requests that wait.
    pub spooled: u64,
    /// Their bytes.
    pub spool_bytes: u64,
}

impl ExporterFigures {
    /// All that is lost.
    pub fn dropped_total(&self) -> u64 {
        self.dropped.values().sum()
    }
}
