//! The time of a check, which all sources share.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    thread::sleep,
    time::{Duration, Instant},
};

/// Interval of looks at the span.
const STEP: Duration = Duration::from_millis(20);

/// The time of a check. It begins when the sources are ready, and ends for all at once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Span(Arc<State>);

#[derive(Debug, Default)]
struct State {
    began: OnceLock<Instant>,
    is_over: AtomicBool,
    is_early: AtomicBool,
}

impl Span {
    /// Begins, unless it has begun. Returns the time of the beginning.
    pub(crate) fn begin(&self) -> Instant {
        *self.0.began.get_or_init(Instant::now)
    }

    /// Ends.
    pub(crate) fn end(&self) {
        self.0.is_over.store(true, Ordering::Relaxed);
    }

    /// Ends before the duration, because the user wants the results now.
    pub(crate) fn end_early(&self) {
        self.0.is_early.store(true, Ordering::Relaxed);
        self.end();
    }

    /// Returns the flag that is set at an early end.
    pub(crate) fn early(&self) -> &AtomicBool {
        &self.0.is_early
    }

    /// Returns true after the end.
    pub(crate) fn is_over(&self) -> bool {
        self.over().load(Ordering::Relaxed)
    }

    /// Returns the flag that is set at the end.
    pub(crate) fn over(&self) -> &AtomicBool {
        &self.0.is_over
    }

    /// Waits for the beginning, or an end before it.
    pub(crate) fn wait_for_begin(&self) {
        while self.0.began.get().is_none() && !self.is_over() {
            sleep(STEP);
        }
    }

    /// Waits for the end.
    pub(crate) fn wait_for_end(&self) {
        while !self.is_over() {
            sleep(STEP);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::Span;

    #[test]
    fn all_sources_share_the_time() {
        let span = Span::default();
        let source = span.clone();
        let waiting = std::thread::spawn(move || {
            source.wait_for_begin();
            let began = source.begin();
            source.wait_for_end();
            began
        });
        let began = span.begin();
        assert!(!span.is_over());
        span.end();
        assert_eq!(waiting.join().unwrap(), began);
        Span::wait_for_begin(&span);
        assert!(span.is_over() && !span.early().load(Ordering::Relaxed));
        span.end_early();
        assert!(span.early().load(Ordering::Relaxed));
    }
}
