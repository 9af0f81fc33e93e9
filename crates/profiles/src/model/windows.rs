//! The places of windows in the time of their recording, and limits of memory.

use super::{Capture, Sample, Times};

/// Limit of distinct pairs of stack and labels with processes. Memory then grows with the number of code paths, not of
/// processes.
pub const MAX_LABELLED: usize = 400_000;

/// Limit for the times of all samples of a profile, in bytes. Ten minutes of ticks on 16 CPUs at 999 Hz need half of it.
pub const MAX_TIME_BYTES: usize = 64 << 20;

/// Times of windows.
#[derive(Debug, Default)]
pub(super) struct WindowTimes {
    /// Least length of a step, for windows whose places follow the clock of the day. Without it they are consecutive
    /// windows of one recording.
    bar_nanos: Option<u64>,
    /// Start of the first window and length of a step, in nanoseconds.
    origin: Option<(u64, u64)>,
    /// Place of the current window and length of its steps, in nanoseconds; absent if its times cannot be placed.
    window: Option<(u64, u64)>,
    /// End of the current window, in steps.
    end: u64,
    bytes: usize,
    has_dropped_processes: bool,
}

impl WindowTimes {
    /// Creates times in steps of at least this length. They follow the clock of the day.
    pub(super) fn by_clock(bar_nanos: u64) -> Self {
        Self { bar_nanos: Some(bar_nanos), ..Self::default() }
    }

    /// Returns whether the windows are consecutive ones of one recording.
    pub(super) fn are_of_one_recording(&self) -> bool {
        self.bar_nanos.is_none()
    }

    /// Returns the length of a step; 0 without times.
    pub(super) fn step_nanos(&self) -> u64 {
        self.origin.map_or(0, |(_, step)| step)
    }

    /// Begins a window. A consecutive one is never before the end of the one before, even if the clock of the day was
    /// set.
    pub(super) fn begin(&mut self, capture: &Capture) {
        let recorded = capture.time_step_nanos;
        let wanted = recorded.max(self.bar_nanos.unwrap_or(0));
        let (start, step) = *self.origin.get_or_insert((capture.started_unix_nanos, wanted));
        let since_start = capture.started_unix_nanos.saturating_sub(start);
        self.window = None;
        if recorded == 0 {
            return;
        }
        if self.bar_nanos.is_some() {
            self.window = Some((since_start, recorded));
        } else if recorded == step {
            let place = (since_start.saturating_add(step / 2) / step).max(self.end);
            self.window = Some((place.saturating_mul(step), step));
            self.end = place.saturating_add(capture.duration_nanos.div_ceil(step));
        }
    }

    /// Returns the times of a sample of the current window.
    pub(super) fn of(&mut self, sample: &Sample) -> Times {
        let window = self.window.filter(|_| self.bytes < MAX_TIME_BYTES);
        let Some((place, recorded)) = window else { return Times::default() };
        let times = sample.times.placed(place, recorded, self.step_nanos());
        self.bytes += times.bytes().len();
        times
    }

    /// Returns whether there is room for processes besides `count` samples.
    pub(super) fn has_room(&mut self, count: usize) -> bool {
        let has_room = count < MAX_LABELLED;
        self.has_dropped_processes |= !has_room;
        has_room
    }

    /// Returns notes about what was dropped.
    pub(super) fn notes(&self) -> Vec<String> {
        limit_notes(self.has_dropped_processes, self.bytes >= MAX_TIME_BYTES)
    }
}

/// Returns the notes of a profile about dropped processes and times.
pub fn limit_notes(has_dropped_processes: bool, has_dropped_times: bool) -> Vec<String> {
    let labels = format!(
        "more than {MAX_LABELLED} combinations of stack and process: later ones carry no process"
    );
    let times = "too many samples to keep all times: later ones have none";
    let notes = [(has_dropped_processes, labels), (has_dropped_times, times.to_owned())];
    notes.into_iter().filter(|(applies, _)| *applies).map(|(_, note)| note).collect()
}
