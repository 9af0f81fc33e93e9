//! The measurements of a worker in the interval that is going on.

use super::context::WorkerContext;
use crate::{
    clock::{Nanos, RunInstant, thread_cpu_time, thread_wait_time},
    link::ServeContext,
    pacing::BurstLimiter,
    report::{IntervalMeasurements, ObservationRecorder},
};

/// What a worker measures in the interval that is going on.
#[derive(Default)]
pub(super) struct IntervalState {
    pub(super) measured: IntervalMeasurements,
    pub(super) recorder: Option<ObservationRecorder>,
    pub(super) start: RunInstant,
    /// Number of the second, from 0.
    pub(super) second: u32,
    cpu_at_start: Nanos,
    wait_at_start: Nanos,
    /// When the sockets were polled last.
    polled_at: RunInstant,
    /// The longest time of this interval without a poll.
    longest_absence: Nanos,
}

impl IntervalState {
    /// The load begins on this thread.
    pub(super) fn begin(&mut self, context: &WorkerContext<'_>) {
        (self.cpu_at_start, self.wait_at_start) = (thread_cpu_time(), thread_wait_time());
        self.recorder = context.recorder();
    }

    /// When the second is over.
    pub(super) fn boundary(&self) -> RunInstant {
        RunInstant::of_second(self.second.saturating_add(1))
    }

    /// On to the second of `now`.
    pub(super) fn enter_second(&mut self, now: RunInstant) {
        self.second = now.second();
    }

    /// The sockets are about to be polled.
    pub(super) fn note_poll(&mut self, now: RunInstant) {
        self.longest_absence = self.longest_absence.max(now.since(self.polled_at));
        self.polled_at = now;
    }

    /// The longest time without a poll since this was asked last.
    pub(super) fn take_longest_absence(&mut self) -> Nanos {
        std::mem::take(&mut self.longest_absence)
    }

    /// The measurements up to `now`, with CPU and wait time of the thread; the next interval begins.
    pub(super) fn take(&mut self, now: RunInstant) -> (IntervalMeasurements, RunInstant) {
        let mut measured = std::mem::take(&mut self.measured);
        measured.store_selected();
        let (cpu, wait) = (thread_cpu_time(), thread_wait_time());
        measured.counts.client_cpu_nanos = (cpu - self.cpu_at_start).get();
        measured.counts.client_wait_nanos = (wait - self.wait_at_start).get();
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
