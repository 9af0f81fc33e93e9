//! One recording from attach to [`Profile`].

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread::sleep,
    time::{Duration, Instant},
};

use rabbitscope_profiles::{Event, Profile};

use super::{
    backend::{Backend, choose_backend},
    ebpf::EbpfSampler,
    node_recording::{NodeRecording, open_process},
    options::{CpuOptions, Options, Progress, Recorded},
    perf_events::PerfEventsSampler,
    sampler::{Request, SampleCounts},
    symbolizer::Detail,
    windows::{WindowSums, Windows},
};
use crate::{
    error::ProbeError,
    permission::{self, CLOCK, KERNEL_SYMBOLS},
};

/// Interval of the recorder's checks of the fill level of rings and maps, and of the node's code. It is short
/// compared with the four seconds for which a ring has room.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Interval of fetches while rings and maps are not filling up: below the 1.6 s covered by the time steps of a
/// counted sample.
const FETCH_INTERVAL: Duration = Duration::from_secs(1);

/// Records the node's CPU time, as [`record`] does.
pub fn record_cpu(
    options: &CpuOptions,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(Progress),
) -> Result<Profile, ProbeError> {
    let mut recorded = record(&options.with_events(&[Event::Cpu]), stop, progress)?;
    Ok(recorded.profiles.remove(0))
}

/// Records one profile for each event, until the time is up, `stop` is set or the node ends. Returns the samples
/// until then. The capture notes an early end of the node. `progress` is called first when the recording begins.
///
/// Afterwards the calling thread has no privileges, unless it runs as root.
pub fn record(
    options: &Options,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(Progress),
) -> Result<Recorded, ProbeError> {
    record_as(options, stop, progress, None)
}

/// Records as [`record`] does, and passes on windows of the recording. Their sum is the result.
pub fn record_windows(
    options: &Options,
    stop: &AtomicBool,
    windows: Windows<'_>,
) -> Result<Recorded, ProbeError> {
    record_as(options, stop, &mut |_| {}, Some(windows))
}

fn record_as(
    options: &Options,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(Progress),
    windows: Option<Windows<'_>>,
) -> Result<Recorded, ProbeError> {
    let mut recording = Recording::start(options)?;
    recording.calibrate()?;
    let mut sums = windows.map(|windows| WindowSums::new(windows, options.events.len()));
    recording.run(options.duration, stop, progress, &mut sums)?;
    let recorded = recording.finish(sums);
    permission::drop_privileges()?;
    recorded
}

/// Fails on a machine with unknown registers and stacks.
pub(super) fn require_known_machine() -> Result<(), ProbeError> {
    if matches!(std::env::consts::ARCH, "x86_64" | "aarch64") {
        return Ok(());
    }
    Err(ProbeError::UnsupportedMachine { arch: std::env::consts::ARCH })
}

struct Recording {
    node: NodeRecording,
    started: Instant,
    elapsed: Duration,
    /// Time since the start, or since the latest window, that the samples cover.
    rest: Duration,
}

impl Recording {
    fn start(options: &Options) -> Result<Self, ProbeError> {
        require_known_machine()?;
        let process = open_process(options.pid)?;
        let choice = choose_backend(options.pid, options.backend)?;
        choice.require(&options.events)?;
        let request = Request { events: &options.events, freq_hz: options.freq_hz };
        let mut node = NodeRecording::attach(process, request, Detail::Lines, |target| {
            Ok(match choice.backend {
                Backend::Ebpf => Box::new(EbpfSampler::attach(target, request, None)?),
                Backend::PerfEvents => Box::new(PerfEventsSampler::attach(target, request)?),
            })
        })?;
        node.notes.extend(choice.note());
        // From now on only the node's memory and the program's maps are read.
        permission::give_up(CLOCK | KERNEL_SYMBOLS)?;
        let (started, zero) = (Instant::now(), Duration::ZERO);
        Ok(Self { node, started, elapsed: zero, rest: zero })
    }

    fn calibrate(&mut self) -> Result<(), ProbeError> {
        self.node.calibrate()?;
        self.started = Instant::now();
        Ok(())
    }

    fn run(
        &mut self,
        duration: Option<Duration>,
        stop: &AtomicBool,
        progress: &mut dyn FnMut(Progress),
        sums: &mut Option<WindowSums<'_>>,
    ) -> Result<(), ProbeError> {
        let mut last_fetch = Instant::now();
        progress(self.progress()?);
        loop {
            let elapsed = self.started.elapsed();
            let left = duration.map_or(POLL_INTERVAL, |all| all.saturating_sub(elapsed));
            sleep(left.min(POLL_INTERVAL));
            self.elapsed = self.started.elapsed();
            let node_gone = !self.node.process.is_alive();
            if !node_gone {
                self.node.follow_code()?;
            }
            let due = sums.as_mut().filter(|sums| !node_gone && sums.is_due(self.elapsed));
            if let Some(sums) = due {
                sums.add(&self.node.end_window()?);
            }
            if last_fetch.elapsed() >= FETCH_INTERVAL || self.node.sampler.is_filling()? {
                self.node.fetch()?;
                last_fetch = Instant::now();
                progress(self.progress()?);
            }
            if node_gone {
                self.note_exit();
                break;
            }
            let time_is_up = duration.is_some_and(|all| self.elapsed >= all);
            if time_is_up || stop.load(Ordering::Relaxed) {
                break;
            }
        }
        self.rest = self.node.fetch_last()?;
        Ok(())
    }

    fn note_exit(&mut self) {
        self.node.notes.push(format!(
            "the node exited after {:.1} s; the recording until then is kept",
            self.elapsed.as_secs_f64()
        ));
    }

    fn progress(&self) -> Result<Progress, ProbeError> {
        let SampleCounts { ticks, lost } = self.node.counts()?;
        Ok(Progress { elapsed: self.elapsed, samples: ticks, lost })
    }

    fn finish(mut self, sums: Option<WindowSums<'_>>) -> Result<Recorded, ProbeError> {
        let rest = self.node.profiles(self.rest)?;
        let profiles = match sums {
            None => rest,
            Some(mut sums) => {
                sums.add(&rest);
                sums.finish()
            }
        };
        let is_empty = profiles.iter().all(|profile| profile.samples.is_empty());
        if is_empty && !self.node.process.is_alive() {
            return Err(ProbeError::NodeExited { pid: self.node.process.pid });
        }
        Ok(Recorded { profiles, unnamed: self.node.into_unnamed() })
    }
}
