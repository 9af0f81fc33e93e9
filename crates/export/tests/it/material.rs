//! Windows and snapshots to export, and exporters from a configuration's text.

use std::{
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use rabbitscope_export::{
    ExportOptions, ExporterOptions, ExporterToml, Exporters, MetricsSnapshot, NodeLabels,
    RetryDelays, Window, catalog, validate_exporters,
};
use rabbitscope_profiles::{
    Capture, Event, Frame, FrameKind, FrameTable, Identities, Identity, Labels, Mode, Profile,
    Sample, StackEntry, StackOutcome, StackQuality, Times,
};

pub(crate) const PLANTED: &str = "planted";

/// Parses exporters from a configuration's text.
pub(crate) fn configured(text: &str) -> Vec<ExporterOptions> {
    #[derive(serde::Deserialize)]
    struct File {
        exporters: Vec<ExporterToml>,
    }
    let file: File = toml::from_str(text).unwrap();
    validate_exporters(file.exporters).unwrap()
}

/// Options with short pauses for tests.
pub(crate) fn options(text: &str) -> ExportOptions {
    let delays = RetryDelays { first: Duration::from_millis(50), max: Duration::from_millis(200) };
    let instance = Some("here".to_owned());
    ExportOptions { exporters: configured(text), delays, instance, ..ExportOptions::default() }
}

pub(crate) fn start(text: &str) -> Exporters {
    Exporters::start(options(text)).unwrap()
}

pub(crate) fn now_millis() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    u64::try_from(since.as_millis()).unwrap()
}

pub(crate) fn labels() -> Arc<NodeLabels> {
    Arc::new(NodeLabels {
        service: "orders".to_owned(),
        cluster: "c".to_owned(),
        namespace: "shop".to_owned(),
        pod: "rabbit-0".to_owned(),
        node: "rabbit@a".to_owned(),
        version: "3.10.8".to_owned(),
    })
}

/// A counter, and a gauge for the planted queue and for another one.
pub(crate) fn snapshot(unix_millis: u64, published: u64) -> MetricsSnapshot {
    let mut snapshot = MetricsSnapshot::new(unix_millis);
    let node = labels();
    snapshot.add(&catalog::NODE_PUBLISHED, Some(&node), Vec::new(), published as f64);
    for (queue, depth) in [(PLANTED, 100 * published), ("a b,c=\"d\"\\é", published)] {
        let queue = vec![("queue", Arc::from(queue)), ("vhost", Arc::from("/"))];
        snapshot.add(&catalog::NODE_QUEUE_MESSAGES, Some(&node), queue, depth as f64);
    }
    snapshot
}

/// A window with 30 queues and samples without a process. The planted queue has the most samples. `index` makes
/// windows differ.
pub(crate) fn window(index: u64) -> Window {
    let mut frames = FrameTable::default();
    let mut entry = |name: &str, kind| StackEntry {
        frame: frames.intern(Frame { name: name.to_owned(), kind }),
        repeat: 1,
    };
    let root = entry("scheduler", FrameKind::Thread);
    let work = vec![root, entry("rabbit_amqqueue_process:handle_cast/2", FrameKind::Erlang)];
    let recursive = StackEntry { repeat: 3, ..entry("lists:foldl/3", FrameKind::Erlang) };
    let deep = [work.clone(), vec![recursive]].concat();
    let idle = vec![root, entry("do_epoll_wait", FrameKind::Kernel)];
    let mut identities = Identities::new();
    let mut samples = vec![sample(&idle, None, 5)];
    for queue in 0..30 {
        let process = format!("<0.{}.0>", 100 + queue);
        let name = if queue == 17 { PLANTED.to_owned() } else { format!("q-{queue}") };
        let (role, vhost) = ("queue".to_owned(), "/".to_owned());
        let identity = Identity { role, name, vhost, ..Identity::default() };
        identities.insert(process.clone(), identity);
        let count = if queue == 17 { 500 + index } else { 1 + queue };
        samples.push(sample(&work, Some(&process), count));
        samples.push(sample(&deep, Some(&process), 2));
    }
    let start = now_millis() * 1_000_000;
    let capture = Capture {
        started_unix_nanos: start,
        duration_nanos: 10_000_000_000,
        period_nanos: 10_101_010,
        ..Capture::default()
    };
    let (event, quality, lines) = (Event::Cpu, StackQuality::default(), Vec::new());
    let profile = Profile { event, capture, quality, frames, samples, identities, lines };
    Window {
        labels: labels(),
        started_unix_nanos: start,
        duration: Duration::from_secs(10),
        profile: Arc::new(profile),
    }
}

fn sample(stack: &[StackEntry], process: Option<&str>, weight: u64) -> Sample {
    let outcome = if process.is_some() { StackOutcome::Complete } else { StackOutcome::NoProcess };
    let labels = Labels {
        process: process.map(Into::into),
        thread: "1_scheduler".into(),
        mode: Mode::User,
        outcome,
    };
    Sample { stack: stack.to_vec(), labels, weight, count: weight, times: Times::default() }
}
