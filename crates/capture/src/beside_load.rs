//! Packets and sockets that are captured while a run loads a broker, on a separate thread.
//!
//! The capture starts before connections are made, because a capture without `confirm.select` cannot number publishes.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, Receiver, Sender},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use rabbitscope_probe::packets::CaptureInterface;
use rabbitscope_runs::scenario::PacketsSpec;
use rabbitscope_wire::{
    analyzer::{AnalyzerOptions, Payload},
    report::PacketReport,
};

use super::{
    live::{LiveOptions, capture},
    ports::BrokerPorts,
    saved::SavedPackets,
};

/// The result of a capture.
pub struct CapturedPackets {
    /// The report.
    pub report: PacketReport,
    /// The packets themselves, if the scenario keeps them.
    pub saved: Option<SavedPackets>,
    /// The reason for an early end.
    pub cut_short: Option<String>,
}

/// A capture that runs beside the load.
#[derive(Debug)]
pub struct CaptureBesideLoad {
    thread: Option<JoinHandle<anyhow::Result<CapturedPackets>>>,
    load_started: Option<Sender<Instant>>,
    /// Set at the end of the run.
    over: Arc<AtomicBool>,
}

impl CaptureBesideLoad {
    /// Starts to capture the broker with this pid and these ports, called `subject`. Returns once the capture is active. Kept
    /// packets are written beside `file`. A later failure sets `stop`, because a run without its packets would waste
    /// the user's time.
    pub fn start(
        spec: &PacketsSpec,
        (pid, ports, subject): (u32, &[u16], String),
        file: PathBuf,
        stop: &Arc<AtomicBool>,
    ) -> anyhow::Result<Self> {
        let (load_started, begin) = mpsc::channel();
        let (opened, is_open) = mpsc::channel();
        let over = Arc::new(AtomicBool::new(false));
        let options = LiveOptions {
            subject,
            ports: BrokerPorts::new(ports.iter().copied())?,
            pid: Some(pid),
            interface: CaptureInterface::Any,
        };
        let look = {
            let (spec, over, stop) = (spec.clone(), Arc::clone(&over), Arc::clone(stop));
            move || {
                let looked = look(&spec, &options, &file, (&opened, &begin), &over);
                if looked.is_err() {
                    stop.store(true, Ordering::Relaxed);
                }
                looked
            }
        };
        let thread = thread::Builder::new().name("packets".to_owned()).spawn(look);
        let thread = thread.context("cannot start a thread for packets")?;
        let capture = Self { thread: Some(thread), load_started: Some(load_started), over };
        match is_open.recv() {
            Ok(()) => Ok(capture),
            // The capture failed; its result has the reason.
            Err(_) => capture.finish().and_then(|_| bail!("the capture ended before it started")),
        }
    }

    /// Takes the channel on which to announce the start of the load. The time of the capture counts from then.
    pub fn load_started(&mut self) -> Option<Sender<Instant>> {
        self.load_started.take()
    }

    /// Ends the capture, if it still runs.
    pub fn finish(mut self) -> anyhow::Result<CapturedPackets> {
        self.over.store(true, Ordering::Relaxed);
        let thread = self.thread.take().expect("it is taken here and at the end alone");
        thread.join().expect("capturing panicked")
    }
}

impl Drop for CaptureBesideLoad {
    /// Ends the capture of a run that failed early.
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn look(
    spec: &PacketsSpec,
    options: &LiveOptions,
    file: &Path,
    (opened, begin): (&Sender<()>, &Receiver<Instant>),
    over: &AtomicBool,
) -> anyhow::Result<CapturedPackets> {
    let mut saved = spec.save.then(|| SavedPackets::beside(file)).transpose()?;
    let analyzer = AnalyzerOptions {
        written: spec.save.then_some(Payload::WithoutBodies),
        ..AnalyzerOptions::new(options.subject.clone())
    };
    let mut load = None;
    let mut opened = Some(opened);
    let unstopped = AtomicBool::new(false);
    // The load may end before the requested time. That does not count as cut short.
    let mut is_over = |_: Duration| {
        // The first call means that everything is open.
        let _ = opened.take().map(|opened| opened.send(()));
        load = load.or_else(|| begin.try_recv().ok());
        let is_time_up = load.is_some_and(|start: Instant| start.elapsed() >= spec.duration);
        is_time_up || over.load(Ordering::Relaxed)
    };
    let looked = capture(options, analyzer, saved.as_mut(), &unstopped, &mut is_over)?;
    Ok(CapturedPackets { report: looked.report, saved, cut_short: looked.cut_short })
}
