//! What a link is given while it is served, and what it returns.

use rabbitscope_amqp::Returned;

use crate::{
    clock::RunClock,
    latency::Latency,
    message::{Numbering, Stamp},
    pacing::{BurstLimiter, LATE_NANOS},
    report::{IntervalMeasurements, Observation, ObservationRecorder, ServiceMonitor},
};

/// What is going on while a link is served.
pub(crate) struct ServeContext<'a> {
    /// Nanoseconds since the run began.
    pub(crate) now: u64,
    pub(crate) clock: RunClock,
    /// Of the run, in the stamps.
    pub(crate) run_tag: u16,
    pub(crate) numbering: Numbering,
    pub(crate) measured: &'a mut IntervalMeasurements,
    pub(crate) service: &'a ServiceMonitor,
    /// Somebody of this run measures what is delivered.
    pub(crate) is_consumed: bool,
    /// Writes down what becomes of messages; absent when nobody asks.
    pub(crate) recorder: Option<&'a mut ObservationRecorder>,
    /// Publishers that have just sent their last message.
    pub(crate) publishers_done: usize,
    /// Consumers that have just received their last message.
    pub(crate) consumers_done: usize,
    /// Callers that have had their last reply.
    pub(crate) callers_done: usize,
    /// Slots of churn that have closed their last one.
    pub(crate) churners_done: usize,
    /// The shortest latency that was measured, in nanoseconds.
    pub(crate) fastest: Option<u64>,
    /// Schedules are served now.
    pub(crate) is_pacing: bool,
    pub(crate) limiter: &'a mut BurstLimiter,
    /// What is due until then may go, in nanoseconds since the run began; absent: schedules wait.
    pub(crate) due_until: Option<u64>,
    /// A schedule has been served.
    pub(crate) has_paced: bool,
}

impl ServeContext<'_> {
    /// Messages are about to be made; with a schedule, if there is one. What falls due while these are
    /// written waits for the next step, or each write would have one message.
    #[inline]
    pub(super) fn begin(&mut self, has_schedule: bool) {
        self.now = self.clock.nanos();
        if has_schedule && self.is_pacing && self.due_until.is_none() {
            self.due_until = Some(self.limiter.until(self.now));
        }
    }

    /// Schedules were served, but not all that was due: what is due at `due` waits for a later step.
    pub(crate) fn holds_back(&self, due: Option<u64>) -> bool {
        due.is_some_and(|due| due <= self.now) && self.due_until.is_some()
    }

    /// A message of a schedule is sent, so long after its time. So much of that is the client's doing.
    #[inline]
    pub(super) fn sent_behind(&mut self, late_nanos: u64, own_nanos: u64) {
        let counts = &mut self.measured.counts;
        counts.scheduled += 1;
        counts.late += u64::from(late_nanos > LATE_NANOS);
        counts.late_by_client += u64::from(own_nanos > LATE_NANOS);
        self.measured.measure(Latency::ClientDelay, own_nanos, 1);
    }

    /// A message of a schedule is left out.
    pub(super) fn left_out(&mut self, own_nanos: u64) {
        let counts = &mut self.measured.counts;
        counts.scheduled += 1;
        counts.dropped += 1;
        counts.late_by_client += u64::from(own_nanos > LATE_NANOS);
    }

    /// A message of a schedule was not sent before the load ended, so long after its time: it counts as
    /// late, and with its age in the latencies that it would have had.
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
        self.fastest = Some(self.fastest.map_or(nanos, |fastest| fastest.min(nanos)));
    }

    /// A message came back: nobody will get it.
    pub(super) fn record_return(&mut self, returned: &Returned<'_>) {
        let Some(recorder) = &mut self.recorder else { return };
        let stamp = Stamp::find(&returned.properties).or_else(|| Stamp::decode(&returned.body));
        if let Some(stamp) = stamp.filter(|stamp| stamp.is_of(self.run_tag)) {
            recorder.note(Observation::Returned { number: stamp.number });
        }
    }
}
