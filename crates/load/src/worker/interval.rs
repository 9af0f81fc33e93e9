//! The measurements of a worker in the interval that is going on.

use super::context::WorkerContext;
use crate::{
    clock::{SECOND, thread_cpu_nanos, thread_wait_nanos},
    link::ServeContext,
    pacing::BurstLimiter,
    report::{IntervalMeasurements, ObservationRecorder},
};

/// Times are nanoseconds since the run began.
#[derive(Default)]
pub(super) struct IntervalState {
    pub(super) measured: IntervalMeasurements,
    pub(super) recorder: Option<ObservationRecorder>,
    pub(super) start: u64,
    /// Number of the second, from 0.
    pub(super) second: u32,
    cpu_at_start: u64,
    wait_at_start: u64,
    /// When the sockets were polled last.
    polled_at: u64,
    /// The longest time of this interval without a poll, in nanoseconds.
    longest_absence: u64,
}

impl IntervalState {
    /// The load begins on this thread.
    pub(super) fn begin(&mut self, context: &WorkerContext<'_>) {
        (self.cpu_at_start, self.wait_at_start) = (thread_cpu_nanos(), thread_wait_nanos());
        self.recorder = context.recorder();
    }

    /// When the second is over.
    pub(super) fn boundary(&self) -> u64 {
        (u64::from(self.second) + 1) * SECOND
    }

    /// On to the second of `now`.
    pub(super) fn enter_second(&mut self, now: u64) {
        self.second = u32::try_from(now / SECOND).unwrap_or(u32::MAX);
    }

    /// The sockets are about to be polled.
    pub(super) fn note_poll(&mut self, now: u64) {
        self.longest_absence = self.longest_absence.max(now.saturating_sub(self.polled_at));
        self.polled_at = now;
    }

    /// The longest time without a poll since this was asked last, in nanoseconds.
    pub(super) fn take_longest_absence(&mut self) -> u64 {
        std::mem::take(&mut self.longest_absence)
    }

    /// The measurements up to `now`, with CPU and wait time of the thread; the next interval begins.
    pub(super) fn take(&mut self, now: u64) -> (IntervalMeasurements, u64) {
        let mut measured = std::mem::take(&mut self.measured);
        measured.store_selected();
        let (cpu, wait) = (thread_cpu_nanos(), thread_wait_nanos());
        measured.counts.client_cpu_nanos = cpu.saturating_sub(self.cpu_at_start);
        measured.counts.client_wait_nanos = wait.saturating_sub(self.wait_at_start);
        (self.cpu_at_start, self.wait_at_start) = (cpu, wait);
        (measured, std::mem::replace(&mut self.start, now))
    }

    /// For one call of a link.
    pub(super) fn serve_context<'a>(
        &'a mut self,
        limiter: &'a mut BurstLimiter,
        context: &WorkerContext<'a>,
    ) -> ServeContext<'a> {
        let Self { measured, recorder, .. } = self;
        let service = &context.shared.service;
        ServeContext::new(context.run, measured, service, recorder.as_mut(), limiter)
    }
}
