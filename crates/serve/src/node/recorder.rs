//! The windows of the profile.

use std::{
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::{Sender, SyncSender, TrySendError},
    },
    thread,
    time::{Duration, Instant},
};

use rabbitscope_probe::{ContinuousOptions, ContinuousRecorder, ProbeError};
use rabbitscope_profiles::{Event, Profile};

use super::{
    pace::{FREQUENCY_HZ, STEP, WINDOW},
    report::{Origin, Report},
};

/// The ways of a window to the page.
pub(super) struct Ways {
    /// To the thread that asks the node for names; absent if the node is not asked.
    pub(super) names: Option<SyncSender<Box<Profile>>>,
    pub(super) reports: Sender<Report>,
}

/// Records the node until `stop` is set, the node ends or the recording fails.
pub(super) fn record(pid: u32, ways: &Ways, stop: &AtomicBool) {
    if let Err(error) = record_windows(pid, ways, stop) {
        let obstacle = format!("The stacks are not recorded: {error}");
        let _ = ways.reports.send(Report::Obstacle(Origin::Recording, Some(obstacle)));
    }
}

fn record_windows(pid: u32, ways: &Ways, stop: &AtomicBool) -> Result<(), ProbeError> {
    let mut recorder = start(pid)?;
    let (mut window_end, mut next_fetch) = (Instant::now() + WINDOW, Instant::now());
    while !stop.load(Ordering::Relaxed) {
        let now = Instant::now();
        if now >= window_end {
            if !recorder.is_everywhere() {
                // CPUs came or went, or the machine slept: only a new clock is on all of them.
                recorder = start(pid)?;
            }
            for window in recorder.end_window() {
                let window = window.map_err(|(_, error)| error)?;
                let mut profiles = window.profiles.into_iter();
                if let Some(profile) = profiles.find(|profile| profile.event == Event::Cpu) {
                    ways.send(profile);
                }
                if window.has_ended {
                    return Ok(());
                }
            }
            window_end = now + WINDOW;
            next_fetch = now + recorder.fetch_interval();
        } else if now >= next_fetch {
            recorder.fetch();
            next_fetch = now + recorder.fetch_interval();
        }
        let next = window_end.min(next_fetch).saturating_duration_since(Instant::now());
        thread::sleep(next.clamp(Duration::from_millis(1), STEP));
    }
    Ok(())
}

fn start(pid: u32) -> Result<ContinuousRecorder, ProbeError> {
    let options = ContinuousOptions { freq_hz: FREQUENCY_HZ, has_off_cpu: false };
    let mut recorder = ContinuousRecorder::start(&options)?;
    recorder.add(pid)?;
    Ok(recorder)
}

impl Ways {
    /// Sends a window by the thread that adds names. If that is busy or gone, the processes of the window have pids only.
    fn send(&self, profile: Profile) {
        let profile = Box::new(profile);
        let unnamed = match &self.names {
            None => Some(profile),
            Some(names) => match names.try_send(profile) {
                Ok(()) => None,
                Err(TrySendError::Full(profile) | TrySendError::Disconnected(profile)) => {
                    Some(profile)
                }
            },
        };
        if let Some(profile) = unnamed {
            let _ = self.reports.send(Report::Window(profile));
        }
    }
}
