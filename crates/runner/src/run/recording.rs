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
use rabbitscope_probe::{Options, ProbeError, Progress, Recorded, Windows};
use rabbitscope_profiles::Profile;
use rabbitscope_runs::scenario::ProfileSpec;

use rabbitscope_inside::{IdentityResolver, InsideError};

use super::window_names;
use crate::progress::WindowSink;

const STEP: Duration = Duration::from_millis(20);

/// Length of the windows for a live page.
const WINDOW: Duration = Duration::from_secs(2);

/// The profiles of a recording, and its place in the run.
#[derive(Debug, Default)]
pub(super) struct RecordedProfiles {
    /// One for each event, in the order of the table of events.
    pub(super) profiles: Vec<Profile>,
    /// Time from the start of the load to the start of the recording.
    pub(super) offset: Duration,
}

/// Waits for the start of the load and for the delay, then records. Returns `None` if the load ended before that.
pub(super) fn record(
    (pid, spec): (u32, &ProfileSpec),
    node: Result<ConnectOptions, InsideError>,
    windows: Option<WindowSink>,
    (load_started, load_ended): (&Receiver<Instant>, &AtomicBool),
    stop: &AtomicBool,
) -> Option<Result<RecordedProfiles, ProbeError>> {
    let asked = node.as_ref().ok().cloned();
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
    let recorded = match windows {
        None => rabbitscope_probe::record(&options, load_ended, &mut |_| {}),
        Some(sink) => record_windows(&options, load_ended, asked, sink),
    };
    Some(recorded.map(|mut recorded| {
        resolver.resolve(&mut recorded.profiles);
        RecordedProfiles { profiles: named(recorded, load_ended, stop), offset }
    }))
}

/// Records, and passes the windows of the recording on.
fn record_windows(
    options: &Options,
    stop: &AtomicBool,
    node: Option<ConnectOptions>,
    sink: WindowSink,
) -> Result<Recorded, ProbeError> {
    thread::scope(|scope| {
        // Without the thread the page has no profile, and the run goes on.
        let passing = window_names::start(scope, node, sink).ok();
        let take = &mut |profiles: &[Profile]| {
            // The page has the first event. A window that finds no room is missing on the page only.
            if let Some((passing, window)) = passing.as_ref().zip(profiles.first()) {
                let _ = passing.try_send(window.clone());
            }
        };
        let windows = Windows { length: WINDOW, take };
        rabbitscope_probe::record_windows(options, stop, windows)
    })
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
    let events = spec.event.as_slice().to_vec();
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
