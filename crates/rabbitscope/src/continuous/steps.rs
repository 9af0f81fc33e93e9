//! The order of `watch`: the clock, the nodes, the windows, until a signal ends it.

use std::time::{Duration, Instant};

use rabbitscope_probe::{ContinuousOptions, ContinuousRecorder, NodeWindow, ProbeError};

use super::{
    config::{ConfigSource, WatchOptions},
    delivery::Delivery,
    nodes::{Nodes, SCAN_INTERVAL},
    signals::{Asked, SignalInbox},
};
use crate::output;

/// Watches until SIGINT or SIGTERM.
pub(crate) fn watch(source: &ConfigSource) -> anyhow::Result<()> {
    let options = source.read()?;
    let signals = SignalInbox::open()?;
    let mut watch = Watch::start(options)?;
    loop {
        match signals.wait_until(watch.next_step()) {
            Asked::Nothing => watch.step(),
            Asked::Reload => watch.reload(source),
            Asked::Stop => break,
        }
    }
    watch.end();
    Ok(())
}

struct Watch {
    options: WatchOptions,
    recorder: ContinuousRecorder,
    nodes: Nodes,
    delivery: Delivery,
    next_fetch: Instant,
    next_scan: Instant,
    window_end: Instant,
}

impl Watch {
    fn start(options: WatchOptions) -> anyhow::Result<Self> {
        let delivery = Delivery::start(&options)?;
        let recorder = recorder(&options)?;
        let now = Instant::now();
        let mut watch = Self {
            window_end: now + options.window,
            options,
            recorder,
            nodes: Nodes::default(),
            delivery,
            next_fetch: now,
            next_scan: now,
        };
        watch.step();
        if watch.nodes.count() == 0 {
            output::note("no node runs here yet; nodes that come are recorded");
        }
        Ok(watch)
    }

    /// When there is something to do.
    fn next_step(&self) -> Instant {
        let fetch = (self.nodes.count() > 0).then_some(self.next_fetch);
        fetch.into_iter().fold(self.window_end.min(self.next_scan), Instant::min)
    }

    /// Does all that is due. Nodes are looked for when samples are fetched anyway, so that an idle machine is woken
    /// seldom.
    fn step(&mut self) {
        let now = Instant::now();
        if now >= self.window_end {
            self.end_window();
            // A machine that slept, or had no time, does not make up for windows.
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
            self.nodes.look(&self.options, &mut self.recorder);
            self.next_scan = now + SCAN_INTERVAL;
        }
    }

    fn end_window(&mut self) {
        let windows = self.recorder.end_window();
        self.deliver(windows);
        self.delivery.tidy();
    }

    fn deliver(&mut self, windows: Vec<Result<NodeWindow, (u32, ProbeError)>>) {
        for window in windows {
            match window {
                Ok(window) => {
                    let (pid, has_ended) = (window.pid, window.has_ended);
                    if let Some(labels) = self.nodes.labels(pid) {
                        self.delivery.deliver(labels, window);
                    }
                    if has_ended {
                        self.nodes.ended(pid);
                    }
                }
                Err((pid, error)) => self.nodes.failed(pid, &error),
            }
        }
    }

    /// Reads the configuration again. One that cannot be used is named, and the old one stays in force.
    fn reload(&mut self, source: &ConfigSource) {
        match source.read().and_then(|options| self.apply(options)) {
            Ok(()) => output::note("the configuration was read again"),
            Err(error) => {
                output::note(&format!("{error:#}; the configuration of before stays in force"));
            }
        }
    }

    fn apply(&mut self, options: WatchOptions) -> anyhow::Result<()> {
        let is_other_recording = (self.options.freq_hz, self.options.has_off_cpu)
            != (options.freq_hz, options.has_off_cpu);
        let other = is_other_recording.then(|| recorder(&options)).transpose()?;
        self.end_window();
        self.delivery.reload(&self.options, &options)?;
        let now = Instant::now();
        self.window_end = now + options.window;
        self.options = options;
        match other {
            Some(recorder) => {
                self.recorder = recorder;
                self.nodes.start_again();
            }
            None => self.nodes.choose_again(&self.options, &mut self.recorder),
        }
        self.nodes.look(&self.options, &mut self.recorder);
        self.next_fetch = now + self.recorder.fetch_interval();
        Ok(())
    }

    fn end(mut self) {
        self.end_window();
        let (ticks, windows) = (self.delivery.ticks, self.delivery.windows);
        self.delivery.finish();
        output::note(&format!("{ticks} samples in {windows} windows"));
    }
}

fn recorder(options: &WatchOptions) -> Result<ContinuousRecorder, ProbeError> {
    ContinuousRecorder::start(&ContinuousOptions {
        freq_hz: options.freq_hz,
        has_off_cpu: options.has_off_cpu,
    })
}

/// The first end of a window after `now`, on the grid of the ends before.
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
