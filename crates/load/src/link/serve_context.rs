//! The input and the results of one call of a link.

use rabbitscope_amqp::Returned;
use rabbitscope_measurements::{
    DoneMembers, IntervalMeasurements, ObservationRecorder, ServiceMonitor,
};
use rabbitscope_runs::record::Latency;
use rabbitscope_timing::{Nanos, RunInstant, Stamp};
use rabbitscope_verify::Observation;

use crate::{
    context::RunSettings,
    pacing::{BurstLimiter, LATE_TOLERANCE},
};

/// Sending time of a message, and its delay after the scheduled time if it has one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sending {
    pub(super) at: RunInstant,
    pub(super) lateness: Option<Nanos>,
}

/// The context of one call of a link.
pub(crate) struct ServeContext<'a> {
    /// The current time, as last read from the clock.
    pub(crate) now: RunInstant,
    pub(crate) run: RunSettings,
    /// The counts and measurements of the thread.
    pub(crate) measured: &'a mut IntervalMeasurements,
    /// The monitor for lost connections and alarms.
    pub(crate) service: &'a ServiceMonitor,
    /// Records observations of messages; absent if none are recorded.
    pub(crate) recorder: Option<&'a mut ObservationRecorder>,
    pub(crate) pass: PacingPass<'a>,
    pub(crate) outcome: ServeOutcome,
}

/// The handling of schedules in this call.
pub(crate) struct PacingPass<'a> {
    /// True if schedules are served now.
    pub(crate) is_on: bool,
    limiter: &'a mut BurstLimiter,
    /// Messages due up to this time may be sent; absent while schedules wait.
    pub(crate) due_until: Option<RunInstant>,
    /// True if a schedule has been served.
    pub(crate) has_paced: bool,
}

/// Results of the call besides its measurements.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ServeOutcome {
    pub(crate) done: DoneMembers,
    /// The shortest measured latency.
    pub(crate) fastest: Option<Nanos>,
}

impl<'a> ServeContext<'a> {
    pub(crate) fn new(
        run: RunSettings,
        measured: &'a mut IntervalMeasurements,
        service: &'a ServiceMonitor,
        recorder: Option<&'a mut ObservationRecorder>,
        limiter: &'a mut BurstLimiter,
    ) -> Self {
        let pass = PacingPass { is_on: true, limiter, due_until: None, has_paced: false };
        let (now, outcome) = (run.clock.now(), ServeOutcome::default());
        Self { now, run, measured, service, recorder, pass, outcome }
    }
}

impl ServeContext<'_> {
    /// Begins encoding. Messages that fall due during the write wait for the next pass. Otherwise each write would have
    /// one message.
    #[inline]
    pub(super) fn begin(&mut self, has_schedule: bool) {
        self.now = self.run.clock.now();
        if has_schedule && self.pass.is_on && self.pass.due_until.is_none() {
            self.pass.due_until = Some(self.pass.limiter.until(self.now));
        }
    }

    /// Returns whether schedules were served, and the message at `due` has to wait for a later pass.
    pub(crate) fn holds_back(&self, due: Option<RunInstant>) -> bool {
        due.is_some_and(|due| due <= self.now) && self.pass.due_until.is_some()
    }

    /// Counts a scheduled message that is sent `lateness` after its time. The client itself caused `own` of that delay.
    #[inline]
    pub(super) fn sent_behind(&mut self, lateness: Nanos, own: Nanos) {
        let counts = &mut self.measured.counts;
        counts.scheduled += 1;
        counts.late += u64::from(lateness > LATE_TOLERANCE);
        counts.late_by_client += u64::from(own > LATE_TOLERANCE);
        self.measured.measure(Latency::ClientDelay, own, 1);
    }

    /// Counts a scheduled message that is skipped.
    pub(super) fn left_out(&mut self, own: Nanos) {
        let counts = &mut self.measured.counts;
        counts.scheduled += 1;
        counts.dropped += 1;
        counts.late_by_client += u64::from(own > LATE_TOLERANCE);
    }

    /// Counts a scheduled message that was not sent before the load ended. It counts as late, and with its age in the
    /// latencies that it would have had.
    pub(super) fn overdue(&mut self, age: Nanos, latencies: &[Latency]) {
        self.measured.counts.late += 1;
        self.measured.counts.overdue += 1;
        self.left_out(Nanos::ZERO);
        for latency in latencies {
            self.measured.measure_overdue(*latency, age);
        }
    }

    #[inline]
    pub(super) fn confirmed(&mut self, sent_at: RunInstant, count: u64) {
        let latency = self.now.since(sent_at);
        self.measured.measure(Latency::Confirm, latency, count);
        self.measured(latency);
    }

    #[inline]
    pub(super) fn confirmed_intended(&mut self, sent_at: RunInstant, lateness: Nanos) {
        let latency = self.now.since(sent_at) + lateness;
        self.measured.measure(Latency::ConfirmIntended, latency, 1);
    }

    /// Records a message that arrived at `arrived`.
    #[inline]
    pub(super) fn delivered(&mut self, sending: Sending, arrived: RunInstant) {
        self.measured.before_sent += u64::from(sending.at > arrived);
        self.reached([Latency::EndToEnd, Latency::EndToEndIntended], sending, arrived);
        self.measured(arrived.since(sending.at));
    }

    /// Records a message that reached an end at `end`. The latencies count from its sending and from its scheduled
    /// time.
    #[inline]
    pub(super) fn reached(
        &mut self,
        [actual, intended]: [Latency; 2],
        sending: Sending,
        end: RunInstant,
    ) {
        let latency = end.since(sending.at);
        self.measured.measure(actual, latency, 1);
        if let Some(lateness) = sending.lateness {
            self.measured.measure(intended, latency + lateness, 1);
        }
    }

    #[inline]
    pub(super) fn measured(&mut self, latency: Nanos) {
        self.outcome.fastest =
            Some(self.outcome.fastest.map_or(latency, |fastest| fastest.min(latency)));
    }

    /// Records a returned message, which no consumer will receive.
    pub(super) fn record_return(&mut self, returned: &Returned<'_>) {
        let Some(recorder) = &mut self.recorder else { return };
        let stamp = Stamp::find(&returned.properties).or_else(|| Stamp::decode(&returned.body));
        if let Some(stamp) = stamp.filter(|stamp| stamp.is_of(self.run.tag)) {
            recorder.note(Observation::Returned { number: stamp.number });
        }
    }
}
