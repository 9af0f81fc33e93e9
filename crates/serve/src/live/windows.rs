//! The latest windows of a profile.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use rabbitscope_profiles::{Profile, ProfileSum};
use rabbitscope_web::ProfileSpan;

/// Limit of the memory of all windows.
const MAX_BYTES: usize = 64 << 20;

/// Limit of the time that all windows cover.
const MAX_AGE: Duration = Duration::from_secs(30 * 60);

/// Windows in the order of their times, the latest ones within limits of memory and age.
#[derive(Default)]
pub(super) struct Windows {
    kept: VecDeque<Window>,
    bytes: usize,
    /// Number of windows so far.
    count: u64,
    /// True if no tick has named the latest window yet.
    is_new: bool,
}

/// A window. The latest stays in the ring even if it is larger than the limit.
#[derive(Clone)]
struct Window {
    span: ProfileSpan,
    profile: Arc<Profile>,
    bytes: usize,
}

/// Windows of a span of time, in their order.
pub(super) struct Kept(Vec<Window>);

impl Windows {
    /// Adds a window, and drops the oldest ones beyond the limits.
    pub(super) fn push(&mut self, profile: Profile) {
        self.count += 1;
        self.is_new = true;
        let from = profile.capture.started_unix_nanos;
        let to = from.saturating_add(profile.capture.duration_nanos);
        let span = ProfileSpan { number: self.count, from, to };
        let bytes = profile.memory_bytes();
        self.bytes += bytes;
        self.kept.push_back(Window { span, profile: Arc::new(profile), bytes });
        let oldest = to.saturating_sub(nanos(MAX_AGE));
        while self.kept.len() > 1
            && (self.bytes > MAX_BYTES
                || self.kept.front().is_some_and(|one| one.span.from < oldest))
        {
            self.bytes -= self.kept.pop_front().map_or(0, |gone| gone.bytes);
        }
    }

    /// Returns the number of the latest window.
    pub(super) fn latest(&self) -> Option<u64> {
        self.kept.back().map(|window| window.span.number)
    }

    /// Returns the latest window, once.
    pub(super) fn take_new(&mut self) -> Option<ProfileSpan> {
        let is_new = std::mem::take(&mut self.is_new);
        self.kept.back().filter(|_| is_new).map(|window| window.span)
    }

    /// Returns the windows that end within the latest `time`, the latest one always; all without a time.
    pub(super) fn latest_of(&self, time: Option<Duration>) -> Kept {
        let end = self.kept.back().map_or(0, |window| window.span.to);
        let from = time.map_or(0, |time| end.saturating_sub(nanos(time)));
        let within = self.kept.iter().filter(|window| window.span.to > from);
        Kept(within.cloned().collect())
    }
}

impl Kept {
    /// Returns the sum of the windows with its span. `None` without a window, or when their events differ.
    pub(super) fn sum(&self) -> Option<(ProfileSpan, Profile)> {
        let [first, .., last] = &self.0[..] else {
            let only = self.0.first()?;
            return Some((only.span, Profile::clone(&only.profile)));
        };
        let mut sum = ProfileSum::of_windows();
        self.0.iter().all(|window| sum.add(&window.profile)).then_some(())?;
        Some((ProfileSpan { from: first.span.from, ..last.span }, sum.finish()?))
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
