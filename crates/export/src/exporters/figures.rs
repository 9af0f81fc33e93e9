//! Figures of an exporter.

use std::collections::BTreeMap;

/// Figures of an exporter since the start: what became of its windows or snapshots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExporterFigures {
    /// Name of the exporter.
    pub name: String,
    /// Windows or snapshots offered.
    pub offered: u64,
    /// Requests that the backend accepted.
    pub sent: u64,
    /// Bytes of the accepted requests' bodies.
    pub sent_bytes: u64,
    /// Failed attempts, by reason.
    pub errors: BTreeMap<&'static str, u64>,
    /// Lost windows or snapshots, by reason.
    pub dropped: BTreeMap<&'static str, u64>,
    /// Requests in the spool.
    pub spooled: u64,
    /// Bytes in the spool.
    pub spool_bytes: u64,
}

impl ExporterFigures {
    /// Returns all losses.
    pub fn dropped_total(&self) -> u64 {
        self.dropped.values().sum()
    }
}
