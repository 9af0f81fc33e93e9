//! What exporting needs to start.

use std::path::PathBuf;

use rabbitscope_http::Listener;

use crate::{ExporterOptions, RetryDelays};

/// What exporting needs to start.
#[derive(Debug, Default)]
pub struct ExportOptions {
    /// Where to.
    pub exporters: Vec<ExporterOptions>,
    /// What waits while a backend is away.
    pub spool: SpoolOptions,
    /// Pauses after failures.
    pub delays: RetryDelays,
    /// Label of metrics that says which machine they are from; the name of this host if there is none.
    pub instance: Option<String>,
    /// Where Prometheus may scrape the metrics, at `/metrics`.
    pub listener: Option<Listener>,
}

/// What waits while a backend is away. All exporters share the room equally.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpoolOptions {
    /// A directory of our own, which survives a restart; without one the spool is in memory.
    pub directory: Option<PathBuf>,
    /// Bytes of all exporters together.
    pub max_bytes: Option<u64>,
}

impl SpoolOptions {
    /// Most bytes that a spool may have, and has in a directory unless less is asked for.
    pub const MAX_BYTES: u64 = 20_000_000;

    /// Bytes of a spool in memory, unless something else is asked for.
    pub const IN_MEMORY_BYTES: u64 = 8_000_000;

    /// Bytes of all exporters together.
    pub fn bytes(&self) -> u64 {
        let usual = if self.directory.is_some() { Self::MAX_BYTES } else { Self::IN_MEMORY_BYTES };
        self.max_bytes.unwrap_or(usual).min(Self::MAX_BYTES)
    }
}
