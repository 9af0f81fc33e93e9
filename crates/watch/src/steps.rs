//! The main loop of `watch`: clock, nodes and windows, until a signal ends it.

use std::{
    sync::Arc,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use rabbitscope_export::MetricsSnapshot;
use rabbitscope_http::Listener;
use rabbitscope_probe::{ContinuousOptions, ContinuousRecorder, NodeWindow, ProbeError};
use rabbitscope_terminal::output;
use rabbitscope_text::counted;

use super::{
    check::inside,
    config::{ConfigSource, WatchOptions},
    delivery::Delivery,
    inbox::{Event, Inbox},
    inside::{AskedNodes, NodeReading},
    judgements::Judgements,
    labelled_window::LabelledWindow,
    metrics::{Answer, ThreadCpu, write_judgement, write_node, write_own},
    nodes::{Nodes, SCAN_INTERVAL},
    page::WatchPage,
};

/// Watches until SIGINT or SIGTERM. A live page listens on `listener`.
pub fn watch(source: &ConfigSource, listener: Option<Listener>) -> anyhow::Result<()> {
    let options = source.read()?;
    let inbox = Inbox::open()?;
    let page = listener.map(WatchPage::start).transpose()?;
    let mut watch = Watch::start(options, &inbox, page)?;
    loop {
        match inbox.wait_until(watch.next_step()) {
            Event::TimeUp => watch.step(),
            Event::Named(window) => watch.deliver_named(window),
            Event::Reload => watch.reload(source),
            Event::Stop => break,
        }
    }
    watch.end(&inbox);
    Ok(())
}

/// Time at the end for windows to return with names. It is longer than a node may take to answer.
const LAST_NAMES_TIMEOUT: Duration = Duration::from_secs(5);

/// Number of intervals after which a reading is stale.
const STALE_INTERVALS: u32 = 3;

struct Watch {
    options: WatchOptions,
    recorder: ContinuousRecorder,
    nodes: Nodes,
    asked: AskedNodes,
    delivery: Delivery,
    thread_cpu: ThreadCpu,
    judgements: Judgements,
    page: Option<WatchPage>,
    next_fetch: Instant,
    next_scan: Instant,
    next_metrics: Instant,
    window_end: Instant,
}

impl Watch {
    fn start(
        options: WatchOptions,
        inbox: &Inbox,
        page: Option<WatchPage>,
    ) -> anyhow::Result<Self> {
        let delivery = Delivery::start(&options)?;
        let recorder = recorder(&options)?;
        let now = Instant::now();
        let mut watch = Self {
            window_end: now + options.window,
            asked: AskedNodes::new(options.inside.clone(), figures(&options), inbox.sender()),
            options,
            recorder,
            nodes: Nodes::default(),
            delivery,
            thread_cpu: ThreadCpu::default(),
            judgements: Judgements::default(),
            page,
            next_fetch: now,
            next_scan: now,
            next_metrics: now,
        };
        if let Some(page) = &watch.page {
            output::note(&format!("live page: {}", page.url()));
        }
        watch.announce();
        watch.step();
        if watch.nodes.recorded().is_empty() {
            output::note(
                "no node runs on this machine yet; new nodes are recorded when they start",
            );
        }
        Ok(watch)
    }

    /// Reports whether nodes are asked, and where metrics are. No file shows these facts.
    fn announce(&self) {
        output::note(&inside(&self.options));
        if let Some(address) = self.delivery.address() {
            output::note(&format!("metrics at http://{address}/metrics"));
        }
    }

    /// Returns the time of the next task.
    fn next_step(&self) -> Instant {
        let fetch = (!self.nodes.recorded().is_empty()).then_some(self.next_fetch);
        let metrics = self.options.takes_metrics().then_some(self.next_metrics);
        let also = fetch.into_iter().chain(metrics);
        also.fold(self.window_end.min(self.next_scan), Instant::min)
    }

    /// Performs all tasks that are due. The search for nodes coincides with a fetch of samples, so that an idle machine
    /// is woken rarely.
    fn step(&mut self) {
        let now = Instant::now();
        if now >= self.window_end {
            self.end_window();
            // Windows that a machine missed, asleep or overloaded, are not made up for.
            self.window_end = later(self.window_end, self.options.window, now);
            self.next_fetch = now + self.recorder.fetch_interval();
        } else if now >= self.next_fetch {
            self.recorder.fetch();
            self.next_fetch = now + self.recorder.fetch_interval();
            if self.recorder.has_ended() {
                let windows = self.recorder.end_ended();
                self.deliver(windows);
            }
        }
        if now >= self.next_scan {
            self.look();
            self.next_scan = now + SCAN_INTERVAL;
        }
        if self.options.takes_metrics() && now >= self.next_metrics {
            self.offer_metrics(now);
            self.next_metrics = later(self.next_metrics, self.options.metrics_interval, now);
        }
    }

    fn look(&mut self) {
        if !self.recorder.is_everywhere() {
            self.start_clock_again();
        }
        self.nodes.look(&self.options, &mut self.recorder);
        self.asked.follow(self.nodes.recorded());
    }

    fn start_clock_again(&mut self) {
        match recorder(&self.options) {
            Ok(recorder) => {
                output::note(
                    "CPUs were added or removed, or the machine slept: restarting the clocks of all CPUs",
                );
                self.end_last_window();
                self.replace_recorder(recorder);
            }
            Err(error) => output::note(&format!("not every CPU is recorded: {error}")),
        }
    }

    fn replace_recorder(&mut self, recorder: ContinuousRecorder) {
        self.recorder = recorder;
        self.nodes.start_again();
    }

    fn offer_metrics(&mut self, now: Instant) {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut snapshot = MetricsSnapshot::new(since.as_millis().try_into().unwrap_or(u64::MAX));
        let oldest = STALE_INTERVALS * self.options.metrics_interval;
        let nodes = self.nodes.recorded();
        self.thread_cpu.retain(|pid| nodes.contains_key(&pid));
        self.judgements.retain(|pid| nodes.contains_key(&pid));
        for (labels, pid) in self.nodes.by_labels() {
            let reading = self.asked.reading(pid);
            let is_fresh = |at: Instant| now.duration_since(at) <= oldest;
            let answer = answer_in(reading.as_ref(), is_fresh);
            write_node(&mut snapshot, labels, pid, answer, &mut self.thread_cpu);
            if let Some(judgement) = self.judgements.of(pid) {
                write_judgement(&mut snapshot, labels, judgement);
            }
        }
        write_own(&mut snapshot, &self.delivery.counts, nodes.len(), self.asked.failed());
        self.delivery.offer_metrics(snapshot);
    }

    fn end_window(&mut self) {
        // Windows that still wait for names come with the next ones.
        self.show();
        let windows = self.recorder.end_window();
        self.deliver(windows);
        self.delivery.tidy();
    }

    /// Ends the last window of this recorder.
    fn end_last_window(&mut self) {
        let windows = self.recorder.end_last_window();
        self.deliver(windows);
        self.delivery.tidy();
    }

    fn deliver(&mut self, windows: Vec<Result<NodeWindow, (u32, ProbeError)>>) {
        for window in windows {
            match window {
                Ok(window) => {
                    let (pid, has_ended) = (window.pid, window.has_ended);
                    if let Some(labels) = self.nodes.labels(pid).map(Arc::clone) {
                        self.name_and_deliver(LabelledWindow { labels, window });
                    }
                    if has_ended {
                        self.nodes.ended(pid);
                        self.asked.follow(self.nodes.recorded());
                    }
                }
                Err((pid, error)) => self.nodes.failed(pid, &error),
            }
        }
        self.show_if_named();
    }

    fn show_if_named(&mut self) {
        if self.asked.outstanding == 0 {
            self.show();
        }
    }

    fn show(&mut self) {
        let Some(page) = &mut self.page else { return };
        let nodes = self.nodes.recorded();
        self.judgements.retain(|pid| nodes.contains_key(&pid));
        page.show(|pid| nodes.contains_key(&pid));
    }

    /// Delivers a window. If its node is asked, the window returns later with names.
    fn name_and_deliver(&mut self, window: LabelledWindow) {
        if let Some(window) = self.asked.offer(window) {
            self.judge_and_deliver(window);
        }
    }

    fn judge_and_deliver(&mut self, window: LabelledWindow) {
        if self.options.takes_judgements() {
            let reading = self.asked.reading(window.window.pid).and_then(|reading| reading.last);
            let oldest = STALE_INTERVALS * self.options.metrics_interval;
            let fresh = reading.filter(|(at, _)| at.elapsed() <= oldest);
            let report = self.judgements.judge(&window.labels, &window.window, fresh.as_ref());
            if let Some((page, report)) = self.page.as_mut().zip(report) {
                page.add(&window.labels, &window.window, &report);
            }
        }
        self.delivery.deliver(window);
    }

    fn deliver_named(&mut self, window: LabelledWindow) {
        self.asked.outstanding = self.asked.outstanding.saturating_sub(1);
        self.judge_and_deliver(window);
        self.show_if_named();
    }

    /// Reloads the configuration. If it is invalid, reports why and keeps the old one.
    fn reload(&mut self, source: &ConfigSource) {
        match source.read().and_then(|options| self.apply(options)) {
            Ok(()) => output::note("the configuration was reloaded"),
            Err(error) => {
                output::note(&format!("{error:#}; the previous configuration stays in force"));
            }
        }
    }

    fn apply(&mut self, options: WatchOptions) -> anyhow::Result<()> {
        let is_other_recording = (self.options.freq_hz, self.options.has_off_cpu)
            != (options.freq_hz, options.has_off_cpu);
        let other = is_other_recording.then(|| recorder(&options)).transpose()?;
        match &other {
            Some(_) => self.end_last_window(),
            None => self.end_window(),
        }
        self.delivery.reload(&self.options, &options)?;
        let now = Instant::now();
        self.window_end = now + options.window;
        self.options = options;
        match other {
            Some(recorder) => self.replace_recorder(recorder),
            None => self.nodes.choose_again(&self.options, &mut self.recorder),
        }
        self.asked.reload(self.options.inside.clone(), figures(&self.options));
        self.next_metrics = now;
        self.look();
        self.announce();
        self.next_fetch = now + self.recorder.fetch_interval();
        Ok(())
    }

    fn end(mut self, inbox: &Inbox) {
        self.end_last_window();
        self.asked.end();
        let deadline = Instant::now() + LAST_NAMES_TIMEOUT;
        while self.asked.outstanding > 0 && Instant::now() < deadline {
            if let Event::Named(window) = inbox.wait_until(deadline) {
                self.deliver_named(window);
            }
        }
        self.show();
        if let Some(page) = self.page.take() {
            page.end();
        }
        let counts = self.delivery.counts;
        self.delivery.finish();
        let (samples, windows) =
            (counted(counts.samples, "sample"), counted(counts.windows, "window"));
        output::note(&format!("{samples} in {windows}"));
    }
}

/// Returns the node's figures if they are fresh. A node that was never reached yet does not count as missing.
fn answer_in(reading: Option<&NodeReading>, is_fresh: impl Fn(Instant) -> bool) -> Answer<'_> {
    match reading {
        Some(NodeReading { last: Some((at, figures)), .. }) if is_fresh(*at) => {
            Answer::Figures(figures)
        }
        None | Some(NodeReading { last: None, has_failed: false }) => Answer::NotAsked,
        Some(_) => Answer::Missing,
    }
}

/// Returns the interval between readings of nodes; `None` if neither metrics nor the page need figures.
fn figures(options: &WatchOptions) -> Option<Duration> {
    options.takes_judgements().then_some(options.metrics_interval)
}

fn recorder(options: &WatchOptions) -> Result<ContinuousRecorder, ProbeError> {
    ContinuousRecorder::start(&ContinuousOptions {
        freq_hz: options.freq_hz,
        has_off_cpu: options.has_off_cpu,
    })
}

/// Returns the end of the next window: one window after the previous end, or after `now` if that time has passed.
fn later(end: Instant, window: Duration, now: Instant) -> Instant {
    let next = end + window;
    if next > now { next } else { now + window }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_that_were_slept_through_are_not_made_up_for() {
        let (now, second) = (Instant::now(), Duration::from_secs(1));
        assert_eq!(later(now, 10 * second, now + second), now + 10 * second);
        assert_eq!(later(now, 10 * second, now + 60 * second), now + 70 * second);
    }
}
