//! What a link is given while it is served, and what it returns.

use rabbitscope_amqp::Returned;

use crate::{
    context::{DoneMembers, RunSettings},
    latency::Latency,
    message::Stamp,
    pacing::{BurstLimiter, LATE_NANOS},
    report::{IntervalMeasurements, Observation, ObservationRecorder, ServiceMonitor},
};

/// One call of a link.
pub(crate) struct ServeContext<'a> {
    /// Nanoseconds since the run began.
    pub(crate) now: u64,
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
    /// Messages that are due until then may be sent, in nanoseconds since the run began; absent:
    /// schedules wait.
    pub(crate) due_until: Option<u64>,
    /// A schedule has been served.
    pub(crate) has_paced: bool,
}

/// What the call returns besides its measurements.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ServeOutcome {
    pub(crate) done: DoneMembers,
    /// The shortest latency that was measured, in nanoseconds.
    pub(crate) fastest: Option<u64>,
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
        let (now, outcome) = (run.clock.nanos(), ServeOutcome::default());
        Self { now, run, measured, service, recorder, pass, outcome }
    }
}

impl ServeContext<'_> {
    /// Encoding begins. Messages that fall due while these are written wait for the next pass, or
    /// each write would have one message.
    #[inline]
    pub(super) fn begin(&mut self, has_schedule: bool) {
        self.now = self.run.clock.nanos();
        if has_schedule && self.pass.is_on && self.pass.due_until.is_none() {
            self.pass.due_until = Some(self.pass.limiter.until(self.now));
        }
    }

    /// True when schedules were served, and the message at `due` has to wait for a later pass.
    pub(crate) fn holds_back(&self, due: Option<u64>) -> bool {
        due.is_some_and(|due| due <= self.now) && self.pass.due_until.is_some()
    }

    /// Counts a scheduled message that is sent `late_nanos` after its time. The client itself
    /// caused `own_nanos` of that.
    #[inline]
    pub(super) fn sent_behind(&mut self, late_nanos: u64, own_nanos: u64) {
        let counts = &mut self.measured.counts;
        counts.scheduled += 1;
        counts.late += u64::from(late_nanos > LATE_NANOS);
        counts.late_by_client += u64::from(own_nanos > LATE_NANOS);
        self.measured.measure(Latency::ClientDelay, own_nanos, 1);
    }

    /// Counts a scheduled message that is left out.
    pub(super) fn left_out(&mut self, own_nanos: u64) {
        let counts = &mut self.measured.counts;
        counts.scheduled += 1;
        counts.dropped += 1;
        counts.late_by_client += u64::from(own_nanos > LATE_NANOS);
    }

    /// Counts a scheduled message that was not sent before the load ended. It is late, and recorded
    /// with its age in the latencies that it would have had.
    pub(super) fn overdue(&mut self, age_nanos: u64, latencies: &[Latency]) {
        self.measured.counts.late += 1;
        self.measured.counts.overdue += 1;
        self.left_out(0);
        for latency in latencies {
            self.measured.measure_overdue(*latency, age_nanos);
        }
    }

    #[inline]
    pub(super) fn confirmed(&mut self, sent_at: u64, count: u64) {
        let nanos = self.now.saturating_sub(sent_at);
        self.measured.measure(Latency::Confirm, nanos, count);
        self.measured(nanos);
    }

    #[inline]
    pub(super) fn confirmed_intended(&mut self, sent_at: u64, late_nanos: u64) {
        let nanos = self.now.saturating_sub(sent_at).saturating_add(late_nanos);
        self.measured.measure(Latency::ConfirmIntended, nanos, 1);
    }

    #[inline]
    pub(super) fn delivered(&mut self, sent_at: u64, late_nanos: Option<u64>) {
        let nanos = self.now.saturating_sub(sent_at);
        self.measured.measure(Latency::EndToEnd, nanos, 1);
        if let Some(late_nanos) = late_nanos {
            self.measured.measure(Latency::EndToEndIntended, nanos.saturating_add(late_nanos), 1);
        }
        self.measured(nanos);
    }

    #[inline]
    pub(super) fn measured(&mut self, nanos: u64) {
        self.outcome.fastest =
            Some(self.outcome.fastest.map_or(nanos, |fastest| fastest.min(nanos)));
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
