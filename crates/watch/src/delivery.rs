//! Delivery of windows to the directory and to the exporters. A failure is reported once, until delivery works again.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use rabbitscope_artifacts::archive::{WindowArchive, WindowName};
use rabbitscope_export::{
    ExportOptions, ExporterFigures, Exporters, MetricsSnapshot, NodeLabels, Window,
};
use rabbitscope_http::{ListenError, ListenOptions, Listener};
use rabbitscope_profiles::{Event, Profile};
use rabbitscope_terminal::output;

use super::{
    config::{ScrapeOptions, WatchOptions},
    exporter_files::ExporterFiles,
    labelled_window::LabelledWindow,
    metrics::RecordingCounts,
};

/// The destinations of windows.
pub(super) struct Delivery {
    archive: Option<WindowArchive>,
    exporters: Option<Exporters>,
    files: ExporterFiles,
    /// Number of windows that could not be written since the last success.
    unwritten: u64,
    pub(super) counts: RecordingCounts,
}

impl Delivery {
    /// Opens the directory and starts the exporters.
    pub(super) fn start(options: &WatchOptions) -> anyhow::Result<Self> {
        let open = |directory: &super::config::DirectoryOptions| {
            WindowArchive::open(&directory.path, directory.limits)
        };
        Ok(Self {
            archive: options.directory.as_ref().map(open).transpose()?,
            files: ExporterFiles::from_options(options),
            exporters: exporters(options)?,
            unwritten: 0,
            counts: RecordingCounts::default(),
        })
    }

    /// Applies new options. After an error the old ones remain in force.
    pub(super) fn reload(&mut self, old: &WatchOptions, new: &WatchOptions) -> anyhow::Result<()> {
        let is_other_place = old.directory.as_ref().map(|directory| &directory.path)
            != new.directory.as_ref().map(|directory| &directory.path);
        let other = match &new.directory {
            Some(directory) if is_other_place => {
                Some(WindowArchive::open(&directory.path, directory.limits)?)
            }
            _ => None,
        };
        let of = |options: &WatchOptions| {
            (options.exporters.clone(), options.spool.clone(), options.listen.clone())
        };
        let files = ExporterFiles::from_options(new);
        let is_same = of(old) == of(new) && files == self.files;
        if !is_same || self.exporters.is_some() != has_exporters(new) {
            self.start_exporters_again(old, new)?;
            self.files = files;
        }
        match (&new.directory, &mut self.archive) {
            (None, archive) => *archive = None,
            (Some(_), archive) if is_other_place => *archive = other,
            (Some(directory), Some(archive)) => archive.limits = directory.limits,
            (Some(_), None) => {}
        }
        Ok(())
    }

    fn start_exporters_again(
        &mut self,
        old: &WatchOptions,
        new: &WatchOptions,
    ) -> anyhow::Result<()> {
        // Old and new exporters at the same time might share a spool or an address.
        finish(self.exporters.take());
        let refused = match exporters(new) {
            Ok(started) => {
                self.exporters = started;
                return Ok(());
            }
            Err(error) => error,
        };
        self.exporters = exporters(old).unwrap_or_else(|error| {
            let text = "exports have stopped; reload the configuration to start them again";
            output::note(&format!("{text} (SIGHUP): {error:#}"));
            None
        });
        Err(refused)
    }

    /// Delivers the recordings of a node in one window.
    pub(super) fn deliver(&mut self, LabelledWindow { labels, window }: LabelledWindow) {
        for profile in window.profiles {
            self.counts.add(&profile);
            self.write(&labels, window.pid, &profile);
            if let Some(exporters) = &self.exporters {
                exporters.offer_window(Window {
                    labels: Arc::clone(&labels),
                    started_unix_nanos: profile.capture.started_unix_nanos,
                    duration: profile.capture.duration(),
                    profile: Arc::new(profile),
                });
            }
        }
    }

    fn write(&mut self, labels: &NodeLabels, pid: u32, profile: &Profile) {
        let Some(archive) = &mut self.archive else { return };
        match archive.store(&name_of(labels, pid, profile), profile) {
            Ok(()) if self.unwritten > 0 => {
                output::note(&format!(
                    "windows are being written again; {} are lost",
                    self.unwritten
                ));
                self.unwritten = 0;
            }
            Ok(()) => {}
            Err(error) => {
                if self.unwritten == 0 {
                    output::note(&format!("windows are not written: {error:#}"));
                }
                self.unwritten += 1;
            }
        }
    }

    /// Offers a snapshot of metrics to the exporters.
    pub(super) fn offer_metrics(&self, snapshot: MetricsSnapshot) {
        if let Some(exporters) = &self.exporters {
            exporters.offer_metrics(snapshot);
        }
    }

    /// Returns the address that Prometheus can scrape.
    pub(super) fn address(&self) -> Option<SocketAddr> {
        self.exporters.as_ref().and_then(Exporters::address)
    }

    /// Reports notices and removes old windows, after the windows of all nodes.
    pub(super) fn tidy(&mut self) {
        for notice in self.exporters.iter().flat_map(Exporters::take_notices) {
            output::note(&notice);
        }
        if let Some(archive) = &mut self.archive {
            archive.remove_old();
        }
    }

    /// Sends as much as possible in a short time, and ends.
    pub(super) fn finish(self) {
        finish(self.exporters);
    }
}

/// Time for a backend at the end.
const FINISH_TIMEOUT: Duration = Duration::from_secs(5);

fn finish(exporters: Option<Exporters>) {
    let figures = exporters.map(|exporters| exporters.finish(FINISH_TIMEOUT)).unwrap_or_default();
    figures.iter().filter_map(unsent).for_each(|text| output::note(&text));
}

/// Returns a message about lost requests at the end, because no reader of the figures is left.
fn unsent(figures: &ExporterFigures) -> Option<String> {
    let lost = figures.dropped.get("end")?;
    let name = &figures.name;
    Some(format!(
        "exporter {name}: {lost} waiting requests are lost; `[spool] directory` would keep them"
    ))
}

fn has_exporters(options: &WatchOptions) -> bool {
    !options.exporters.is_empty() || options.listen.is_some()
}

fn exporters(options: &WatchOptions) -> anyhow::Result<Option<Exporters>> {
    if !has_exporters(options) {
        return Ok(None);
    }
    let options = ExportOptions {
        exporters: options.exporters.clone(),
        spool: options.spool.clone(),
        listener: options.listen.as_ref().map(listener).transpose()?,
        ..ExportOptions::default()
    };
    Ok(Some(Exporters::start(options)?))
}

fn listener(options: &ScrapeOptions) -> Result<Listener, ListenError> {
    Listener::bind(ListenOptions {
        address: options.address,
        auth_file: options.auth_file.as_deref(),
        auth_option: "metrics.auth-file",
        hosts: options.hosts.clone(),
    })
}

fn name_of(labels: &NodeLabels, pid: u32, profile: &Profile) -> WindowName {
    let unit_nanos = if profile.event == Event::Cpu { profile.capture.period_nanos } else { 1 };
    WindowName {
        started_millis: profile.capture.started_unix_nanos / 1_000_000,
        duration_millis: profile.capture.duration_nanos / 1_000_000,
        event: profile.event.name(),
        weight_millis: profile.total().saturating_mul(unit_nanos) / 1_000_000,
        node: labels.node.clone(),
        version: labels.version.clone(),
        pid,
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt};

    use super::{
        super::config::{ConfigSource, TypedOptions},
        *,
    };

    #[test]
    fn what_is_lost_at_the_end_is_said() {
        let mut figures =
            ExporterFigures { name: "parca".to_owned(), ..ExporterFigures::default() };
        assert_eq!(unsent(&figures), None);
        figures.dropped.insert("end", 3);
        assert!(unsent(&figures).unwrap().starts_with("exporter parca: 3 waiting requests"));
    }

    #[test]
    fn exporters_that_cannot_start_leave_those_of_before_and_are_tried_again() {
        let place = tempfile::tempdir().unwrap();
        let (file, token) = (place.path().join("watch.toml"), place.path().join("token"));
        let read = |more: &str| {
            fs::write(&file, format!("[metrics]\nlisten = '127.0.0.1:0'\n{more}")).unwrap();
            let typed = TypedOptions::default();
            ConfigSource { file: Some(file.clone()), typed }.read().unwrap()
        };
        let exporter = format!(
            "[[exporters]]\nkind = 'parca'\nurl = 'http://127.0.0.1:1'\ntoken-file = '{}'",
            token.display()
        );
        let (old, new) = (read(""), read(&exporter));
        let mut delivery = Delivery::start(&old).unwrap();
        let refused = delivery.reload(&old, &new).unwrap_err().to_string();
        assert!(refused.contains("token"), "{refused}");
        assert!(delivery.address().is_some(), "those of before go on");
        fs::write(&token, "secret").unwrap();
        fs::set_permissions(&token, fs::Permissions::from_mode(0o600)).unwrap();
        delivery.reload(&old, &new).unwrap();
        assert_eq!(delivery.exporters.as_ref().unwrap().figures().len(), 1);
        delivery.reload(&new, &new).unwrap();
        fs::set_permissions(&token, fs::Permissions::from_mode(0o644)).unwrap();
        let refused = delivery.reload(&new, &new).unwrap_err().to_string();
        assert!(refused.contains("chmod 600"), "a changed file is read again: {refused}");
        fs::set_permissions(&token, fs::Permissions::from_mode(0o600)).unwrap();
        delivery.reload(&new, &new).unwrap();
        let mut none = Delivery { exporters: None, ..Delivery::start(&old).unwrap() };
        none.reload(&old, &old).unwrap();
        assert!(none.address().is_some(), "also with the configuration of before");
    }
}
