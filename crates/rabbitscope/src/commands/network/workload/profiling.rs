//! The CPU profile of the observed node, beside the capture of its packets.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use rabbitscope_analysis::owners_of_samples;
use rabbitscope_probe::{Options, Windows, record_windows};
use rabbitscope_profiles::{Event, Profile};
use rabbitscope_workload::ProfileShares;

/// Length of the windows that take turns between both halves of the recording.
const WINDOW: Duration = Duration::from_secs(1);

/// A recording in progress.
pub(super) struct Recording {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Result<ProfileShares, String>>,
}

impl Recording {
    /// Starts to record a node.
    pub(super) fn start(pid: u32) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let thread = thread::spawn({
            let stop = stop.clone();
            move || record(pid, &stop)
        });
        Self { stop, thread }
    }

    /// Ends the recording. Returns its shares, or the reason against them.
    pub(super) fn finish(self) -> Result<ProfileShares, String> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap_or_else(|_| Err("its thread failed".to_owned()))
    }
}

fn record(pid: u32, stop: &AtomicBool) -> Result<ProfileShares, String> {
    let freq_hz = ProfileShares::FREQUENCY_HZ;
    let options = Options { pid, events: vec![Event::Cpu], freq_hz, duration: None, backend: None };
    let (mut shares, mut half) = (ProfileShares::default(), 0);
    let mut take = |profiles: &[Profile]| {
        for profile in profiles {
            for (function, samples) in owners_of_samples(profile) {
                shares.add(function, half, samples);
            }
        }
        half = 1 - half;
    };
    let windows = Windows { length: WINDOW, take: &mut take };
    let recorded = record_windows(&options, stop, windows).map(drop);
    recorded.map(|()| shares).map_err(|error| error.to_string())
}
