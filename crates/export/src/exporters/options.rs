//! Options of exporting.

use std::path::PathBuf;

use rabbitscope_http::Listener;

use crate::{ExporterOptions, RetryDelays};

/// Options of exporting.
#[derive(Debug, Default)]
pub struct ExportOptions {
    /// The exporters.
    pub exporters: Vec<ExporterOptions>,
    /// Limits of the spool.
    pub spool: SpoolOptions,
    /// Pauses after failures.
    pub delays: RetryDelays,
    /// Label that identifies the machine of the metrics; by default this host's name.
    pub instance: Option<String>,
    /// Listener for Prometheus, which scrapes `/metrics`.
    pub listener: Option<Listener>,
}

/// Limits of the spool, which holds requests while a backend is unreachable. All exporters share it equally.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpoolOptions {
    /// Directory of our own, which survives a restart. Without one the spool is in memory.
    pub directory: Option<PathBuf>,
    /// Limit in bytes, for all exporters together.
    pub max_bytes: Option<u64>,
}

impl SpoolOptions {
    /// Maximum size of a spool, and the default in a directory.
    pub const MAX_BYTES: u64 = 20_000_000;

    /// Default size of a spool in memory.
    pub const IN_MEMORY_BYTES: u64 = 8_000_000;

    /// Returns the limit in bytes, for all exporters together.
    pub fn bytes(&self) -> u64 {
        let usual = if self.directory.is_some() { Self::MAX_BYTES } else { Self::IN_MEMORY_BYTES };
        self.max_bytes.unwrap_or(usual).min(Self::MAX_BYTES)
    }
}
