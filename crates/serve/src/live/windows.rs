//! The latest windows of a profile.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use rabbitscope_profiles::{Profile, ProfileSum};
use rabbitscope_web::ProfileSpan;

/// Limit of the memory of all windows.
const MAX_BYTES: usize = 64 << 20;

/// Limit of the time that all windows cover.
const MAX_AGE: Duration = Duration::from_secs(30 * 60);

/// Number of windows that are kept apart. Above it the oldest become one.
const APART: usize = 60;

/// Number of windows that become one, so that a sum of all needs few additions.
const FOLDED: usize = 30;

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
    /// It is the sum of several.
    is_folded: bool,
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
        let window = Window::new(span, profile, false);
        self.bytes += window.bytes;
        self.kept.push_back(window);
        let oldest = to.saturating_sub(nanos(MAX_AGE));
        while self.kept.len() > 1
            && (self.bytes > MAX_BYTES
                || self.kept.front().is_some_and(|one| one.span.from < oldest))
        {
            self.bytes -= self.kept.pop_front().map_or(0, |gone| gone.bytes);
        }
    }

    /// Returns the windows that should become one.
    pub(super) fn older(&self) -> Option<Kept> {
        let apart = self.kept.iter().filter(|window| !window.is_folded);
        (apart.clone().count() > APART).then(|| Kept(apart.take(FOLDED).cloned().collect()))
    }

    /// Puts the sum of the windows within a span in their place.
    pub(super) fn fold(&mut self, span: ProfileSpan, sum: Profile) {
        let is_within =
            |window: &Window| window.span.from >= span.from && window.span.number <= span.number;
        let Some(place) = self.kept.iter().position(is_within) else { return };
        self.kept.retain(|window| !is_within(window));
        self.kept.insert(place, Window::new(span, sum, true));
        self.bytes = self.kept.iter().map(|window| window.bytes).sum();
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

impl Window {
    fn new(span: ProfileSpan, profile: Profile, is_folded: bool) -> Self {
        let bytes = profile.memory_bytes();
        Self { span, profile: Arc::new(profile), bytes, is_folded }
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

#[cfg(test)]
mod tests {
    use rabbitscope_profiles::{Frame, FrameKind, read_folded};

    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn window(second: u64, name_bytes: usize) -> Profile {
        let mut profile = read_folded("s 1".as_bytes()).unwrap();
        profile.frames.intern(Frame { name: "x".repeat(name_bytes), kind: FrameKind::Native });
        profile.capture.started_unix_nanos = second * SECOND;
        profile.capture.duration_nanos = 2 * SECOND;
        profile
    }

    #[test]
    fn age_is_bounded() {
        let mut windows = Windows::default();
        (0..2000).for_each(|number| windows.push(window(2 * number, 10)));
        let span = windows.latest_of(None).sum().unwrap().0;
        assert_eq!(span.to - span.from, MAX_AGE.as_secs() * SECOND);
        assert_eq!(span.number, 2000);
    }

    #[test]
    fn old_windows_become_one_and_nothing_is_lost() {
        let mut windows = Windows::default();
        for number in 0..100 {
            windows.push(window(2 * number, 10));
            if let Some((span, sum)) = windows.older().and_then(|older| older.sum()) {
                windows.fold(span, sum);
            }
            let (span, all) = windows.latest_of(None).sum().unwrap();
            assert_eq!((all.total(), span.number), (number + 1, number + 1));
            assert_eq!([span.from, span.to], [0, 2 * (number + 1) * SECOND]);
            let latest = windows.latest_of(Some(Duration::from_secs(60))).sum().unwrap().1;
            assert_eq!(latest.total(), (number + 1).min(30), "the latest minute is exact");
            let counted: usize = windows.kept.iter().map(|window| window.bytes).sum();
            assert_eq!(counted, windows.bytes);
        }
        assert_eq!(windows.kept.len(), 2 + 40);
    }

    #[test]
    fn memory_is_bounded() {
        let mut windows = Windows::default();
        (0..100).for_each(|number| windows.push(window(2 * number, 1 << 20)));
        assert!(windows.bytes <= MAX_BYTES && windows.bytes > MAX_BYTES / 2, "{}", windows.bytes);
        let counted: usize = windows.kept.iter().map(|window| window.bytes).sum();
        assert_eq!(counted, windows.bytes);
        windows.push(window(1000, MAX_BYTES + 1));
        assert_eq!(windows.kept.len(), 1, "the latest stays");
    }
}
