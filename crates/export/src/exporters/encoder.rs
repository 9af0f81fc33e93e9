//! The thread that encodes windows and snapshots for all exporters.

use std::sync::{Arc, mpsc::Receiver};

use super::{
    cpu_by_label::CpuByLabel, endpoint::ScrapeText, exporter::Exporter, unencoded::Unencoded,
};
use crate::{
    ExporterKind, MetricsSnapshot, Window, catalog,
    encode::{
        SeriesProfile, influx_lines, open_metrics, otlp_profiles, parca_request, pyroscope_request,
        remote_write_request,
    },
};

/// A window or snapshot to encode.
#[derive(Debug)]
pub(super) enum Job {
    Window(Window),
    Metrics(MetricsSnapshot),
}

impl Job {
    /// Returns the number of samples that it keeps in memory.
    pub(super) fn samples(&self) -> usize {
        match self {
            Self::Window(window) => window.profile.samples.len(),
            Self::Metrics(_) => 0,
        }
    }

    /// Returns the filter of the exporters that take it.
    pub(super) fn is_for(&self) -> fn(ExporterKind) -> bool {
        match self {
            Self::Window(_) => ExporterKind::takes_profiles,
            Self::Metrics(_) => |kind| !kind.takes_profiles(),
        }
    }
}

/// Encodes jobs until all senders of jobs are dropped.
#[derive(Debug)]
pub(super) struct Encoder {
    pub(super) exporters: Arc<[Exporter]>,
    pub(super) instance: String,
    pub(super) text: Arc<ScrapeText>,
    pub(super) cpu: CpuByLabel,
    pub(super) unencoded: Arc<Unencoded>,
}

impl Encoder {
    pub(super) fn run(mut self, jobs: &Receiver<Job>) {
        while let Ok(job) = jobs.recv() {
            let samples = job.samples();
            match job {
                job if self.unencoded.is_over() => self.lose(&job),
                Job::Window(window) => self.encode_window(&window),
                Job::Metrics(snapshot) => self.encode_metrics(snapshot),
            }
            self.unencoded.give_back(samples);
        }
    }

    fn lose(&self, job: &Job) {
        let is_for = job.is_for();
        for exporter in self.exporters.iter().filter(|exporter| is_for(exporter.kind)) {
            exporter.figures.drop_some("end", 1);
        }
    }

    fn encode_window(&mut self, window: &Window) {
        let series = self.cpu.add_window(window);
        for exporter in self.exporters.iter().filter(|exporter| exporter.kind.takes_profiles()) {
            exporter.push(profile_request(exporter.kind, window, &series));
        }
    }

    fn encode_metrics(&self, mut snapshot: MetricsSnapshot) {
        // The exporters' losses come before the unbounded figures, so that they always fit.
        for exporter in self.exporters.iter() {
            write_figures(exporter, &mut snapshot);
        }
        self.cpu.write(&mut snapshot);
        let dropped = snapshot.dropped() as f64;
        snapshot.add_last(&catalog::SELF_POINTS_DROPPED, dropped);
        for exporter in self.exporters.iter() {
            match exporter.kind {
                ExporterKind::RemoteWrite => {
                    exporter.push(remote_write_request(&snapshot, &self.instance));
                }
                ExporterKind::Influx => exporter.push(influx_lines(&snapshot, &self.instance)),
                _ => {}
            }
        }
        self.text.set(open_metrics(&snapshot));
    }
}

fn profile_request(kind: ExporterKind, window: &Window, series: &SeriesProfile<'_>) -> Vec<u8> {
    match kind {
        ExporterKind::Parca => parca_request(window, series),
        ExporterKind::OtlpProfiles => otlp_profiles(window, series),
        _ => pyroscope_request(window, series),
    }
}

fn write_figures(exporter: &Exporter, snapshot: &mut MetricsSnapshot) {
    let figures = exporter.figures();
    let name: Arc<str> = Arc::from(figures.name.as_str());
    let labels = || vec![("exporter", Arc::clone(&name))];
    for (metric, value) in [
        (&catalog::EXPORT_SENT, figures.sent),
        (&catalog::EXPORT_SENT_BYTES, figures.sent_bytes),
        (&catalog::EXPORT_SPOOLED, figures.spooled),
        (&catalog::EXPORT_SPOOL_BYTES, figures.spool_bytes),
    ] {
        snapshot.add(metric, None, labels(), value as f64);
    }
    let by_reason =
        [(&catalog::EXPORT_ERRORS, &figures.errors), (&catalog::EXPORT_DROPPED, &figures.dropped)];
    for (metric, counts) in by_reason {
        for (reason, count) in counts {
            let mut labels = labels();
            labels.push(("reason", Arc::from(*reason)));
            snapshot.add(metric, None, labels, *count as f64);
        }
    }
}
