//! Running exporters.

use std::{
    fs::File,
    net::SocketAddr,
    sync::{
        Arc,
        mpsc::{self, Receiver, SyncSender},
    },
    thread,
    time::{Duration, Instant},
};

use rabbitscope_machine::host_name;

use super::{
    ExportOptions, ExporterFigures,
    cpu_by_label::CpuByLabel,
    encoder::{Encoder, Job},
    endpoint::{Endpoint, ScrapeText},
    exporter::Exporter,
    unencoded::{MAX_JOBS, Unencoded},
};
use crate::{
    ExportError, MetricsSnapshot, Window,
    send::{Client, Notices},
    spool::lock_directory,
};

/// Wait at the end for the job that is being encoded. Counting the other jobs as lost takes no time.
const LAST_JOB_TIMEOUT: Duration = Duration::from_secs(1);

/// Exporters that take windows and snapshots until [`Exporters::finish`].
#[derive(Debug)]
pub struct Exporters {
    all: Arc<[Exporter]>,
    jobs: SyncSender<Job>,
    unencoded: Arc<Unencoded>,
    notices: Arc<Notices>,
    endpoint: Option<Endpoint>,
    encoder_end: Receiver<()>,
    senders_end: Receiver<()>,
    /// Lock that keeps the directory to this process.
    _lock: Option<File>,
}

impl Exporters {
    /// Reads the credential files, opens the spool and starts the threads. Contacts no backend: an unreachable one
    /// may come up later.
    pub fn start(options: ExportOptions) -> Result<Self, ExportError> {
        let lock = options.spool.directory.as_deref().map(lock_directory).transpose()?;
        let notices = Arc::<Notices>::default();
        let (still_sending, senders_end) = mpsc::channel();
        let mut exporters = Vec::new();
        let mut senders = Vec::new();
        for exporter in &options.exporters {
            let client = Client::new(exporter)?;
            let exporter = Exporter::open(exporter, &options.spool, options.exporters.len())?;
            senders.push(exporter.sender(client, &notices, options.delays));
            exporters.push(exporter);
        }
        let text = Arc::<ScrapeText>::default();
        let endpoint =
            options.listener.map(|listener| Endpoint::start(listener, Arc::clone(&text)));
        let endpoint = endpoint.transpose().map_err(ExportError::Thread)?;
        for sender in senders {
            let end = still_sending.clone();
            spawn("export-send", move || {
                sender.run();
                drop(end);
            })?;
        }
        drop(still_sending);
        let exporters: Arc<[Exporter]> = exporters.into();
        let instance = options.instance.unwrap_or_else(host_name);
        let cpu = CpuByLabel::default();
        let unencoded = Arc::<Unencoded>::default();
        let encoder = Encoder {
            exporters: Arc::clone(&exporters),
            instance,
            text,
            cpu,
            unencoded: Arc::clone(&unencoded),
        };
        let (jobs, waiting) = mpsc::sync_channel(MAX_JOBS);
        let (end, encoder_end) = mpsc::channel();
        spawn("export-encode", move || {
            encoder.run(&waiting);
            drop(end);
        })?;
        Ok(Self {
            all: exporters,
            jobs,
            unencoded,
            notices,
            endpoint,
            encoder_end,
            senders_end,
            _lock: lock,
        })
    }

    /// Offers a window. Never waits; a window that does not fit is counted.
    pub fn offer_window(&self, window: Window) {
        self.offer(Job::Window(window));
    }

    /// Offers the current metrics, like [`Self::offer_window`]. The exporters' own figures and the CPU time by role
    /// and queue are added later.
    pub fn offer_metrics(&self, snapshot: MetricsSnapshot) {
        self.offer(Job::Metrics(snapshot));
    }

    fn offer(&self, job: Job) {
        let is_for = job.is_for();
        let is_taken = self.hand_over(job);
        for exporter in self.all.iter().filter(|exporter| is_for(exporter.kind)) {
            exporter.figures.change(|figures| figures.offered += 1);
            if !is_taken {
                exporter.figures.drop_some("encoder-busy", 1);
            }
        }
    }

    fn hand_over(&self, job: Job) -> bool {
        let samples = job.samples();
        if !self.unencoded.take_room(samples) {
            return false;
        }
        let is_taken = self.jobs.try_send(job).is_ok();
        if !is_taken {
            self.unencoded.give_back(samples);
        }
        is_taken
    }

    /// Returns true if windows are useful. CPU time by role is a metric, so any exporter and the endpoint need them.
    pub fn takes_profiles(&self) -> bool {
        self.endpoint.is_some() || !self.all.is_empty()
    }

    /// Returns true if metrics are useful.
    pub fn takes_metrics(&self) -> bool {
        self.endpoint.is_some() || self.all.iter().any(|exporter| !exporter.kind.takes_profiles())
    }

    /// Returns the figures of all exporters.
    pub fn figures(&self) -> Vec<ExporterFigures> {
        self.all.iter().map(Exporter::figures).collect()
    }

    /// Returns the notices for the user since the last call, one sentence each: a backend is unreachable, refuses
    /// requests, or works again. A notice is repeated after ten minutes at the earliest.
    pub fn take_notices(&self) -> Vec<String> {
        self.notices.take()
    }

    /// Returns the address of the endpoint for Prometheus.
    pub fn address(&self) -> Option<SocketAddr> {
        self.endpoint.as_ref().map(Endpoint::address)
    }

    /// Sends pending requests for `within` at most. A directory keeps the rest for the next start. Requests in memory
    /// are lost, and counted.
    pub fn finish(self, within: Duration) -> Vec<ExporterFigures> {
        let until = Instant::now() + within;
        let Self { all: exporters, jobs, unencoded, encoder_end, senders_end, .. } = self;
        drop(jobs);
        wait_for_end(&encoder_end, until);
        unencoded.end();
        wait_for_end(&encoder_end, Instant::now() + LAST_JOB_TIMEOUT);
        exporters.iter().for_each(|exporter| exporter.spool.close(until));
        wait_for_end(&senders_end, until);
        for exporter in exporters.iter().filter(|exporter| !exporter.spool.is_lasting()) {
            exporter.figures.drop_some("end", exporter.spool.size().entries);
        }
        exporters.iter().map(Exporter::figures).collect()
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), ExportError> {
    let thread = thread::Builder::new().name(name.to_owned()).spawn(work);
    thread.map(drop).map_err(ExportError::Thread)
}

/// Waits for threads to drop the other end. They send nothing.
fn wait_for_end(end: &Receiver<()>, until: Instant) {
    let _ = end.recv_timeout(until.saturating_duration_since(Instant::now()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Credentials, ExporterKind, ExporterOptions, NodeLabels, RetryDelays, ServerTrust,
        encode::test_profile,
    };

    fn window(node: usize) -> Window {
        let profile = test_profile(&[("q", 100)]);
        let labels = NodeLabels { node: format!("{node}@h"), ..NodeLabels::default() };
        Window {
            labels: Arc::new(labels),
            started_unix_nanos: profile.capture.started_unix_nanos,
            duration: profile.capture.duration(),
            profile: Arc::new(profile),
        }
    }

    #[test]
    fn windows_of_all_nodes_at_once_are_taken() {
        let exporter = ExporterOptions {
            name: "away".to_owned(),
            kind: ExporterKind::Pyroscope,
            // No server listens on this port.
            url: "http://127.0.0.1:1".to_owned(),
            timeout: Duration::from_secs(1),
            credentials: Credentials::Nobody,
            tenant: None,
            trust: ServerTrust::System,
        };
        let options = ExportOptions {
            exporters: vec![exporter],
            delays: RetryDelays::default(),
            ..ExportOptions::default()
        };
        let exporters = Exporters::start(options).unwrap();
        for node in 0..64 {
            exporters.offer_window(window(node));
            exporters.offer_window(window(node));
        }
        let figures = exporters.finish(Duration::ZERO).remove(0);
        assert_eq!((figures.offered, figures.dropped.get("encoder-busy")), (128, None));
    }
}
