//! The places of windows in the time of their recording, and limits of memory.

use super::{Capture, Sample, Times};

/// Limit of distinct pairs of stack and labels with processes. Memory then grows with the number of code paths, not of
/// processes.
pub const MAX_LABELLED: usize = 400_000;

/// Limit for the times of all samples of a profile, in bytes. Ten minutes of ticks on 16 CPUs at 999 Hz need half of it.
pub const MAX_TIME_BYTES: usize = 64 << 20;

/// Times of consecutive windows.
#[derive(Debug, Default)]
pub(super) struct WindowTimes {
    /// Start of the first window and length of a step, in nanoseconds.
    origin: Option<(u64, u64)>,
    /// Place of the current window, in steps; absent if its steps have another length.
    offset: Option<u32>,
    /// End of the current window, in steps.
    end: u32,
    bytes: usize,
    has_dropped_processes: bool,
}

impl WindowTimes {
    /// Begins a window. It is never before the end of the one before, even if the clock of the day was set.
    pub(super) fn begin(&mut self, capture: &Capture) {
        let (start, step) =
            *self.origin.get_or_insert((capture.started_unix_nanos, capture.time_step_nanos));
        self.offset = None;
        if step == 0 || capture.time_step_nanos != step {
            return;
        }
        let since_start = capture.started_unix_nanos.saturating_sub(start);
        let offset = steps(since_start.saturating_add(step / 2) / step).max(self.end);
        self.offset = Some(offset);
        self.end = offset.saturating_add(steps(capture.duration_nanos.div_ceil(step)));
    }

    /// Returns the times of a sample of the current window.
    pub(super) fn of(&mut self, sample: &Sample) -> Times {
        let Some(offset) = self.offset.filter(|_| self.bytes < MAX_TIME_BYTES) else {
            return Times::default();
        };
        let times = sample.times.later_by(offset);
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

fn steps(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
