//! The measurements of a worker in the current interval.

use rabbitscope_measurements::{IntervalMeasurements, ObservationRecorder};
use rabbitscope_timing::{Nanos, RunInstant, thread_cpu_time, thread_wait_time};

use super::context::WorkerContext;
use crate::{link::ServeContext, pacing::BurstLimiter};

/// Measurements of a worker in the current interval.
#[derive(Default)]
pub(super) struct IntervalState {
    pub(super) measured: IntervalMeasurements,
    pub(super) recorder: Option<ObservationRecorder>,
    pub(super) start: RunInstant,
    /// Number of the second, from 0.
    pub(super) second: u32,
    cpu_at_start: Nanos,
    wait_at_start: Nanos,
    /// Time of the last poll of the sockets.
    polled_at: RunInstant,
    /// The longest time of this interval without a poll.
    longest_absence: Nanos,
}

impl IntervalState {
    /// Begins the load on this thread.
    pub(super) fn begin(&mut self, context: &WorkerContext<'_>) {
        (self.cpu_at_start, self.wait_at_start) = (thread_cpu_time(), thread_wait_time());
        self.recorder = context.recorder();
    }

    /// End of the current second.
    pub(super) fn boundary(&self) -> RunInstant {
        RunInstant::of_second(self.second.saturating_add(1))
    }

    /// Moves on to the second of `now`.
    pub(super) fn enter_second(&mut self, now: RunInstant) {
        self.second = now.second();
    }

    /// Notes that the sockets are about to be polled.
    pub(super) fn note_poll(&mut self, now: RunInstant) {
        self.longest_absence = self.longest_absence.max(now.since(self.polled_at));
        self.polled_at = now;
    }

    /// Takes the longest time without a poll since the last call.
    pub(super) fn take_longest_absence(&mut self) -> Nanos {
        std::mem::take(&mut self.longest_absence)
    }

    /// Takes the measurements up to `now`, with CPU and wait time of the thread, and their start. Begins the next
    /// interval.
    pub(super) fn take(&mut self, now: RunInstant) -> (IntervalMeasurements, RunInstant) {
        let mut measured = std::mem::take(&mut self.measured);
        measured.slots.store_selected();
        let (cpu, wait) = (thread_cpu_time(), thread_wait_time());
        measured.counts.client_cpu_nanos = (cpu - self.cpu_at_start).get();
        measured.counts.client_wait_nanos = (wait - self.wait_at_start).get();
        (self.cpu_at_start, self.wait_at_start) = (cpu, wait);
        (measured, std::mem::replace(&mut self.start, now))
    }

    /// Creates the context for one call of a link.
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
