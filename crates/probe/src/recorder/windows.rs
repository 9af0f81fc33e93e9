//! Windows of one recording, for those who look at it while it runs. The recording is their sum.

use std::time::Duration;

use rabbitscope_profiles::{Profile, ProfileSum};

/// The wish for windows.
pub struct Windows<'a> {
    /// Length of each window.
    pub length: Duration,
    /// Receives the profiles of each window, one for each event. It must not wait.
    pub take: &'a mut dyn FnMut(&[Profile]),
}

/// The windows of a recording so far.
pub(super) struct WindowSums<'a> {
    windows: Windows<'a>,
    /// A sum for each event.
    sums: Vec<ProfileSum>,
    /// Length of all windows.
    covered: Duration,
}

impl<'a> WindowSums<'a> {
    pub(super) fn new(windows: Windows<'a>, events: usize) -> Self {
        let sums = std::iter::repeat_with(ProfileSum::of_windows).take(events).collect();
        Self { windows, sums, covered: Duration::ZERO }
    }

    /// Returns whether a window ends at this time of the recording.
    pub(super) fn is_due(&self, elapsed: Duration) -> bool {
        elapsed >= self.covered + self.windows.length
    }

    /// Adds a window, and passes it on.
    pub(super) fn add(&mut self, profiles: &[Profile]) {
        for (sum, profile) in self.sums.iter_mut().zip(profiles) {
            // The windows of a sum have the same event.
            sum.add(profile);
        }
        self.covered += profiles.first().map_or(Duration::ZERO, |first| first.capture.duration());
        (self.windows.take)(profiles);
    }

    /// Returns the profiles of the whole recording.
    pub(super) fn finish(self) -> Vec<Profile> {
        self.sums.into_iter().filter_map(ProfileSum::finish).collect()
    }
}
