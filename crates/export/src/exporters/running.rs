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
};
use crate::{
    ExportError, ExporterKind, MetricsSnapshot, Window,
    send::{Client, Notices},
    spool::lock_directory,
};

/// Windows and snapshots that wait to be encoded. A window of a busy node has some megabytes in memory.
const MAX_UNENCODED: usize = 6;

/// Exporters that take windows and snapshots until [`Exporters::finish`].
#[derive(Debug)]
pub struct Exporters {
    all: Arc<[Exporter]>,
    jobs: SyncSender<Job>,
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
        let encoder = Encoder { exporters: Arc::clone(&exporters), instance, text, cpu };
        let (jobs, waiting) = mpsc::sync_channel(MAX_UNENCODED);
        let (end, encoder_end) = mpsc::channel();
        spawn("export-encode", move || {
            encoder.run(&waiting);
            drop(end);
        })?;
        Ok(Self { all: exporters, jobs, notices, endpoint, encoder_end, senders_end, _lock: lock })
    }

    /// Hands over a window. Never waits; what cannot be taken is counted.
    pub fn offer_window(&self, window: Window) {
        self.offer(Job::Window(window), ExporterKind::takes_profiles);
    }

    /// Hands over the metrics of this time. As [`Self::offer_window`]. The figures of the exporters themselves, and
    /// CPU time by role and queue, are added here.
    pub fn offer_metrics(&self, snapshot: MetricsSnapshot) {
        self.offer(Job::Metrics(snapshot), |kind| !kind.takes_profiles());
    }

    fn offer(&self, job: Job, is_for: fn(ExporterKind) -> bool) {
        let is_taken = self.jobs.try_send(job).is_ok();
        for exporter in self.all.iter().filter(|it| is_for(it.kind)) {
            exporter.figures.change(|figures| figures.offered += 1);
            if !is_taken {
                exporter.figures.drop_some("encoder-busy", 1);
            }
        }
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
        let Self { all: exporters, jobs, encoder_end, senders_end, .. } = self;
        drop(jobs);
        wait_for_end(&encoder_end, until);
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
