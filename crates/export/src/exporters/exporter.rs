//! One exporter: its spool, its figures and its sender.

use std::{path::Path, sync::Arc};

use super::{ExporterFigures, SpoolOptions};
use crate::{
    ExportError, ExporterKind, ExporterOptions, RetryDelays,
    send::{Client, Notices, Sender, SharedFigures},
    spool::{Spool, SpoolDirectory},
};

/// One exporter.
#[derive(Debug)]
pub(super) struct Exporter {
    pub(super) kind: ExporterKind,
    pub(super) spool: Arc<Spool>,
    pub(super) figures: Arc<SharedFigures>,
}

impl Exporter {
    pub(super) fn open(
        options: &ExporterOptions,
        spool: &SpoolOptions,
        exporters: usize,
    ) -> Result<Self, ExportError> {
        let share = spool.bytes() / exporters as u64;
        let path = spool.directory.as_ref();
        // A backend cannot read requests of another kind, so the directory's name has the kind.
        let place = |path: &Path| path.join(format!("{}.{}", options.name, options.kind.name()));
        let path = path.map(|path| place(path));
        let opened = path.as_deref().map(SpoolDirectory::open).transpose();
        let opened = opened.and_then(|directory| Spool::open(directory, share));
        let (spool, dropped) = opened.map_err(|error| ExportError::Spool {
            path: path.unwrap_or_default(),
            reason: format!("cannot be used: {error}"),
        })?;
        let figures = SharedFigures::default();
        figures.change(|figures| figures.name.clone_from(&options.name));
        figures.drop_some("spool-full", dropped);
        Ok(Self { kind: options.kind, spool: Arc::new(spool), figures: Arc::new(figures) })
    }

    pub(super) fn sender(
        &self,
        client: Client,
        notices: &Arc<Notices>,
        delays: RetryDelays,
    ) -> Sender {
        let (spool, figures) = (Arc::clone(&self.spool), Arc::clone(&self.figures));
        Sender::new(client, spool, figures, Arc::clone(notices), delays)
    }

    pub(super) fn push(&self, body: Vec<u8>) {
        let pushed = self.spool.push(body);
        self.figures.drop_some("spool-full", pushed.dropped);
        self.figures.drop_some("too-large", u64::from(pushed.is_too_large));
        self.figures.drop_some("spool-unwritable", u64::from(pushed.is_unwritten));
    }

    pub(super) fn figures(&self) -> ExporterFigures {
        let size = self.spool.size();
        let mut figures = self.figures.change(|figures| figures.clone());
        (figures.spooled, figures.spool_bytes) = (size.entries, size.bytes);
        figures
    }
}
