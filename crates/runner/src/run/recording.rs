//! The profile that is recorded on a separate thread while the load runs.

use std::{
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::Receiver,
    },
    thread,
    time::{Duration, Instant},
};

use rabbitscope_erlang::ConnectOptions;
use rabbitscope_probe::{Options, ProbeError, Progress, Recorded};
use rabbitscope_profiles::Profile;
use rabbitscope_runs::scenario::ProfileSpec;

use rabbitscope_inside::{IdentityResolver, InsideError};

const STEP: Duration = Duration::from_millis(20);

/// A profile and its place in the run.
#[derive(Debug)]
pub(super) struct RecordedProfile {
    pub(super) profile: Profile,
    /// Time from the start of the load to the start of the recording.
    pub(super) offset: Duration,
}

/// Waits for the start of the load and for the delay, then records. Returns `None` if the load ended before that.
pub(super) fn record(
    pid: u32,
    spec: &ProfileSpec,
    node: Result<ConnectOptions, InsideError>,
    load_started: &Receiver<Instant>,
    load_ended: &AtomicBool,
    stop: &AtomicBool,
) -> Option<Result<RecordedProfile, ProbeError>> {
    let resolver = IdentityResolver::start(node);
    let start = load_started.recv().ok()?;
    while start.elapsed() < spec.delay {
        if load_ended.load(Ordering::Relaxed) {
            return None;
        }
        thread::sleep(STEP.min(spec.delay.saturating_sub(start.elapsed())));
    }
    let offset = start.elapsed();
    let options = options(pid, spec, spec.duration);
    let recorded = rabbitscope_probe::record(&options, load_ended, &mut |_| {});
    Some(recorded.map(|mut recorded| {
        resolver.resolve(&mut recorded.profiles);
        RecordedProfile { profile: named(recorded, load_ended, stop).remove(0), offset }
    }))
}

/// Fetches debug files only after the end of the load, so that they disturb no measurement.
fn named(recorded: Recorded, load_ended: &AtomicBool, stop: &AtomicBool) -> Vec<Profile> {
    while rabbitscope_debuginfod::is_wanted() && !load_ended.load(Ordering::Relaxed) {
        thread::sleep(STEP);
    }
    rabbitscope_debuginfod::named(recorded, stop)
}

/// Makes a recording of no length, so that an obstacle is reported now and not in the middle of the load. It runs on a
/// separate thread, because a recording drops the privileges of its thread.
pub(super) fn rehearse(pid: u32, spec: &ProfileSpec) -> Result<(), ProbeError> {
    let options = options(pid, spec, Duration::ZERO);
    let record = || rabbitscope_probe::record(&options, &AtomicBool::new(false), &mut |_| {});
    thread::scope(|scope| scope.spawn(record).join().expect("recording panicked").map(drop))
}

fn options(pid: u32, spec: &ProfileSpec, duration: Duration) -> Options {
    let events = vec![spec.event.into()];
    Options { pid, events, freq_hz: spec.freq_hz, duration: Some(duration), backend: None }
}

/// Describes the progress of a recording of length `whole`.
pub fn recording_progress(progress: Progress, whole: Duration) -> String {
    format!(
        "recording: {} of {} s, {} samples",
        progress.elapsed.as_secs(),
        whole.as_secs(),
        progress.samples
    )
}
