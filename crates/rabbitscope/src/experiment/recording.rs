//! The profile that is taken while the load runs, on a thread of its own.

use std::{
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::Receiver,
    },
    thread,
    time::{Duration, Instant},
};

use rabbitscope_data::{
    profile::Profile,
    scenario::{ProfileEvent, ProfileSpec},
};
use rabbitscope_probe::{CpuOptions, ProbeError, Progress, record_cpu};

const STEP: Duration = Duration::from_millis(20);

/// A profile and where in the run it lies.
#[derive(Debug)]
pub(super) struct Recorded {
    pub(super) profile: Profile,
    /// From the start of the load to the start of the recording.
    pub(super) offset: Duration,
}

/// Waits for the load to start and for the delay to pass, then records. `None` when the load ended
/// before that.
pub(super) fn record(
    pid: u32,
    spec: &ProfileSpec,
    load_started: &Receiver<Instant>,
    load_ended: &AtomicBool,
) -> Option<Result<Recorded, ProbeError>> {
    let start = load_started.recv().ok()?;
    while start.elapsed() < spec.delay {
        if load_ended.load(Ordering::Relaxed) {
            return None;
        }
        thread::sleep(STEP.min(spec.delay.saturating_sub(start.elapsed())));
    }
    let offset = start.elapsed();
    let profile = record_cpu(&options(pid, spec, spec.duration), load_ended, &mut |_| {});
    Some(profile.map(|profile| Recorded { profile, offset }))
}

/// A recording of no length: whatever forbids a recording says so now, and not when the load has
/// been running for a while.
pub(super) fn rehearse(pid: u32, spec: &ProfileSpec) -> Result<(), ProbeError> {
    let options = options(pid, spec, Duration::ZERO);
    record_cpu(&options, &AtomicBool::new(false), &mut |_| {}).map(drop)
}

fn options(pid: u32, spec: &ProfileSpec, duration: Duration) -> CpuOptions {
    let ProfileEvent::Cpu = spec.event;
    CpuOptions { pid, freq_hz: spec.freq_hz, duration: Some(duration) }
}

/// How far a recording of `whole` length is.
pub fn recording_progress(progress: Progress, whole: Duration) -> String {
    format!(
        "recording: {} of {} s, {} samples",
        progress.elapsed.as_secs(),
        whole.as_secs(),
        progress.samples
    )
}
