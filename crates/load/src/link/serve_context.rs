//! What a link is given while it is served, and what it returns.

use rabbitscope_amqp::Returned;

use crate::{
    clock::{Nanos, RunInstant},
    context::{DoneMembers, RunSettings},
    latency::Latency,
    message::Stamp,
    pacing::{BurstLimiter, LATE_TOLERANCE},
    report::{IntervalMeasurements, Observation, ObservationRecorder, ServiceMonitor},
};

/// When a message was sent, and how long after its time on the schedule, if it has one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sending {
    pub(super) at: RunInstant,
    pub(super) lateness: Option<Nanos>,
}

/// One call of a link.
pub(crate) struct ServeContext<'a> {
    /// The time that it is, as of the last look at the clock.
    pub(crate) now: RunInstant,
    pub(crate) run: RunSettings,
    /// Where the thread counts and measures.
    pub(crate) measured: &'a mut IntervalMeasurements,
    /// Where lost connections and alarms are reported.
    pub(crate) service: &'a ServiceMonitor,
    /// Records observations of messages; absent when nobody asks for them.
    pub(crate) recorder: Option<&'a mut ObservationRecorder>,
    pub(crate) pass: PacingPass<'a>,
    pub(crate) outcome: ServeOutcome,
}

/// How schedules are served in this call.
pub(crate) struct PacingPass<'a> {
    /// Schedules are served now.
    pub(crate) is_on: bool,
    limiter: &'a mut BurstLimiter,
    /// Messages that are due until then may be sent; absent: schedules wait.
    pub(crate) due_until: Option<RunInstant>,
    /// A schedule has been served.
    pub(crate) has_paced: bool,
}

/// What the call returns besides its measurements.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ServeOutcome {
    pub(crate) done: DoneMembers,
    /// The shortest latency that was measured.
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
    /// Encoding begins. Messages that fall due while these are written wait for the next pass, or
    /// each write would have one message.
    #[inline]
    pub(super) fn begin(&mut self, has_schedule: bool) {
        self.now = self.run.clock.now();
        if has_schedule && self.pass.is_on && self.pass.due_until.is_none() {
            self.pass.due_until = Some(self.pass.limiter.until(self.now));
        }
    }

    /// True when schedules were served, and the message at `due` has to wait for a later pass.
    pub(crate) fn holds_back(&self, due: Option<RunInstant>) -> bool {
        due.is_some_and(|due| due <= self.now) && self.pass.due_until.is_some()
    }

    /// Counts a scheduled message that is sent `lateness` after its time. The client itself caused
    /// `own` of that.
    #[inline]
    pub(super) fn sent_behind(&mut self, lateness: Nanos, own: Nanos) {
        let counts = &mut self.measured.counts;
        counts.scheduled += 1;
        counts.late += u64::from(lateness > LATE_TOLERANCE);
        counts.late_by_client += u64::from(own > LATE_TOLERANCE);
        self.measured.measure(Latency::ClientDelay, own, 1);
    }

    /// Counts a scheduled message that is left out.
    pub(super) fn left_out(&mut self, own: Nanos) {
        let counts = &mut self.measured.counts;
        counts.scheduled += 1;
        counts.dropped += 1;
        counts.late_by_client += u64::from(own > LATE_TOLERANCE);
    }

    /// Counts a scheduled message that was not sent before the load ended. It is late, and recorded
    /// with its age in the latencies that it would have had.
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

    /// A message arrived at `arrived`.
    #[inline]
    pub(super) fn delivered(&mut self, sending: Sending, arrived: RunInstant) {
        self.measured.before_sent += u64::from(sending.at > arrived);
        self.reached([Latency::EndToEnd, Latency::EndToEndIntended], sending, arrived);
        self.measured(arrived.since(sending.at));
    }

    /// A message reached an end at `end`: the latencies are from its sending and from its time on the schedule.
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

    /// Records a returned message: no consumer will receive it.
    pub(super) fn record_return(&mut self, returned: &Returned<'_>) {
        let Some(recorder) = &mut self.recorder else { return };
        let stamp = Stamp::find(&returned.properties).or_else(|| Stamp::decode(&returned.body));
        if let Some(stamp) = stamp.filter(|stamp| stamp.is_of(self.run.tag)) {
            recorder.note(Observation::Returned { number: stamp.number });
        }
    }
}
