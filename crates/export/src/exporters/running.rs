//! Exporters while they run.

use std::{
    fs::File,
    io,
    net::SocketAddr,
    path::Path,
    sync::{
        Arc,
        mpsc::{self, Receiver, SyncSender},
    },
    thread,
    time::{Duration, Instant},
};

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

/// How long the end waits for what is being encoded. The rest is counted as lost in no time.
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
    /// Nobody else uses the directory while it is open.
    _lock: Option<File>,
}

impl Exporters {
    /// Reads the files with credentials, opens the spool and starts the threads. No backend is asked for anything:
    /// one that is away now may come later.
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

    /// Hands over a window. Never waits; what cannot be taken is counted.
    pub fn offer_window(&self, window: Window) {
        self.offer(Job::Window(window));
    }

    /// Hands over the metrics of this time. As [`Self::offer_window`]. The figures of the exporters themselves, and
    /// CPU time by role and queue, are added here.
    pub fn offer_metrics(&self, snapshot: MetricsSnapshot) {
        self.offer(Job::Metrics(snapshot));
    }

    fn offer(&self, job: Job) {
        let is_for = job.is_for();
        let is_taken = self.hand_over(job);
        for exporter in self.all.iter().filter(|it| is_for(it.kind)) {
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

    /// Whether windows are of any use: CPU time by role is a metric, so that any exporter and the endpoint need them.
    pub fn takes_profiles(&self) -> bool {
        self.endpoint.is_some() || !self.all.is_empty()
    }

    /// Whether metrics are of any use.
    pub fn takes_metrics(&self) -> bool {
        self.endpoint.is_some() || self.all.iter().any(|it| !it.kind.takes_profiles())
    }

    /// What became of what they were given.
    pub fn figures(&self) -> Vec<ExporterFigures> {
        self.all.iter().map(Exporter::figures).collect()
    }

    /// What a person has to know since the last call, one sentence each: a backend is away, refuses, is back. The
    /// same is said once in ten minutes, not for each request.
    pub fn take_notices(&self) -> Vec<String> {
        self.notices.take()
    }

    /// Where Prometheus may scrape.
    pub fn address(&self) -> Option<SocketAddr> {
        self.endpoint.as_ref().map(Endpoint::address)
    }

    /// Sends what waits, as far as that is done `within` this time. What is in a directory stays there for the next
    /// start; what is in memory is lost, and counted.
    pub fn finish(self, within: Duration) -> Vec<ExporterFigures> {
        let until = Instant::now() + within;
        let Self { all: exporters, jobs, unencoded, encoder_end, senders_end, .. } = self;
        drop(jobs);
        wait_for_end(&encoder_end, until);
        unencoded.end();
        wait_for_end(&encoder_end, Instant::now() + LAST_JOB_TIMEOUT);
        exporters.iter().for_each(|exporter| exporter.spool.close(until));
        wait_for_end(&senders_end, until);
        for exporter in exporters.iter().filter(|it| !it.spool.is_lasting()) {
            exporter.figures.drop_some("end", exporter.spool.size().entries);
        }
        exporters.iter().map(Exporter::figures).collect()
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), ExportError> {
    let thread = thread::Builder::new().name(name.to_owned()).spawn(work);
    thread.map(drop).map_err(ExportError::Thread)
}

/// The threads have the other end and send nothing.
fn wait_for_end(end: &Receiver<()>, until: Instant) {
    let _ = end.recv_timeout(until.saturating_duration_since(Instant::now()));
}

fn host_name() -> String {
    let name: io::Result<String> = rabbitscope_files::read_text(
        Path::new("/proc/sys/kernel/hostname"),
        rabbitscope_files::MAX_TEXT_BYTES,
    );
    name.map_or_else(|_| "localhost".to_owned(), |name| name.trim().to_owned())
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
            // Nobody listens there.
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
