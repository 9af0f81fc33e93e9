//! The drain after the load: workers await confirms, and consumers receive the messages that are left in the queues.

use std::sync::atomic::Ordering;

use rabbitscope_measurements::Failure;
use rabbitscope_timing::{Nanos, RunInstant};

use super::{
    context::WorkerContext,
    event_loop::Worker,
    stage::{DrainProgress, Stage},
};
use crate::link::{Link, ServeContext};

/// Time without an answer or a write after which the wait for answers ends. Chosen: a run must end even if the broker
/// answers nothing.
const ANSWER_IDLE_TIME: Nanos = Nanos::from_micros(5_000_000);

/// Timeout for all answers after the load, even if some still arrive. Chosen: a broker that takes ten thousand small
/// messages a second can empty full sockets in that time.
pub(crate) const ANSWER_TIMEOUT: Nanos = Nanos::from_micros(120_000_000);

/// Time after the load in which accepted messages still count to its last second, as they were on their way. Chosen: as
/// long as the time between two barriers.
const ACCEPT_GRACE: Nanos = Nanos::from_micros(50_000);

/// Time without a delivery after which consumers have drained. Chosen.
const DRAIN_IDLE_TIME: Nanos = Nanos::from_micros(250_000);

/// Timeout for consumers after all answers, even if messages are still delivered. Chosen.
pub(crate) const DRAIN_TIMEOUT: Nanos = Nanos::from_micros(2_000_000);

impl Worker {
    /// Ends the load and begins the drain. No more messages are published.
    pub(super) fn begin_drain(
        &mut self,
        now: RunInstant,
        context: &WorkerContext<'_>,
    ) -> Result<(), Failure> {
        self.tick(context)?;
        self.for_each_link(context, Link::stop_publishing);
        self.ask(context);
        self.hold_report(now, context);
        self.ready.push_all();
        context.shared.confirming.fetch_add(1, Ordering::Relaxed);
        context.shared.draining.fetch_add(1, Ordering::Relaxed);
        let delivered = self.delivered(context);
        self.drain = DrainProgress {
            delivered,
            delivered_at: now,
            moved_at: now,
            ..DrainProgress::default()
        };
        self.stage = Stage::Drain { since: now, is_confirming: true };
        Ok(())
    }

    /// Continues the drain, and closes the connections when it is complete.
    pub(super) fn continue_drain(
        &mut self,
        (since, is_confirming): (RunInstant, bool),
        now: RunInstant,
        context: &WorkerContext<'_>,
    ) -> Result<(), Failure> {
        self.ask(context);
        let awaits_answers = is_confirming && self.awaits_answers(since, now, context);
        let is_reporting = context.awaits_empty && now >= self.interval.boundary();
        let is_soon = now < since + ACCEPT_GRACE && !is_reporting;
        self.release_report(awaits_answers && is_soon, context);
        self.report_drain(now, context)?;
        if is_confirming && !awaits_answers {
            context.shared.confirming.fetch_sub(1, Ordering::Relaxed);
            self.stage = Stage::Drain { since, is_confirming: false };
        } else if !is_confirming && self.has_drained(since, now, context) {
            self.for_each_link(context, Link::finish);
            self.ready.push_all();
            self.stage = Stage::Close { since: now };
        }
        Ok(())
    }

    fn for_each_link(
        &mut self,
        context: &WorkerContext<'_>,
        act: impl Fn(&mut Link, &mut ServeContext<'_>),
    ) {
        for link in &mut self.links {
            act(link, &mut self.interval.serve_context(&mut self.pacing.limiter, context));
        }
    }

    /// Asks the broker whether it accepted the messages that are not known to be accepted. Responders go on sending in
    /// a drain.
    fn ask(&mut self, context: &WorkerContext<'_>) {
        for index in 0..self.links.len() {
            let mut serve = self.interval.serve_context(&mut self.pacing.limiter, context);
            if self.links[index].ask(&mut serve) {
                self.ready.push(index);
            }
        }
    }

    /// Returns whether answers are awaited. They are while some arrive, or bytes leave for the broker.
    fn awaits_answers(
        &mut self,
        since: RunInstant,
        now: RunInstant,
        context: &WorkerContext<'_>,
    ) -> bool {
        let awaited = self.links.iter().map(Link::awaited).sum();
        let unwritten = self.links.iter_mut().map(Link::unwritten_bytes).sum();
        let progress = &mut self.drain;
        if (progress.awaited, progress.unwritten) != (awaited, unwritten) {
            (progress.awaited, progress.unwritten) = (awaited, unwritten);
            progress.moved_at = now;
        }
        let was_stopped = context.shared.was_stopped.load(Ordering::Relaxed);
        let longest = if was_stopped { ANSWER_IDLE_TIME } else { ANSWER_TIMEOUT };
        awaited > 0 && now < since + longest && now < progress.moved_at + ANSWER_IDLE_TIME
    }

    /// Reports each second of a drain that may take long.
    fn report_drain(
        &mut self,
        now: RunInstant,
        context: &WorkerContext<'_>,
    ) -> Result<(), Failure> {
        if context.awaits_empty && now >= self.interval.boundary() {
            self.tick(context)?;
            self.report(now, false, context);
            self.interval.enter_second(now);
        }
        Ok(())
    }

    /// Returns the number of first deliveries in this interval. Redeliveries do not count, because refused messages
    /// come again without end.
    ///
    /// Counts only messages of this run if they are recognisable. Other programs may go on publishing, and this run
    /// does not wait for their messages.
    fn delivered(&self, context: &WorkerContext<'_>) -> u64 {
        let measured = &self.interval.measured;
        let others = if context.knows_own { measured.unstamped } else { 0 };
        measured.counts.consumed.saturating_sub(others + measured.counts.redelivered)
    }

    fn has_drained(
        &mut self,
        since: RunInstant,
        now: RunInstant,
        context: &WorkerContext<'_>,
    ) -> bool {
        let delivered = self.delivered(context);
        let progress = &mut self.drain;
        if delivered != progress.delivered {
            (progress.delivered, progress.delivered_at) = (delivered, now);
        }
        let others_confirm = context.shared.confirming.load(Ordering::Relaxed) > 0
            || context.shared.others_confirm.load(Ordering::Relaxed);
        let answered_at =
            if others_confirm { None } else { Some(*progress.answered_at.get_or_insert(now)) };
        // The messages that were accepted last are on their way to the consumers.
        let idle_since = answered_at.map(|answered| answered.max(progress.delivered_at));
        let is_idle = idle_since.is_some_and(|idle| now >= idle + DRAIN_IDLE_TIME);
        let is_consuming = self.links.iter().any(Link::is_consuming);
        if context.awaits_empty {
            let is_empty = context.shared.is_empty.load(Ordering::Relaxed);
            let emptied = is_empty.then(|| *progress.emptied_at.get_or_insert(now));
            let is_abandoned = context.shared.is_abandoned.load(Ordering::Relaxed);
            let longest = if is_abandoned { DRAIN_TIMEOUT } else { ANSWER_TIMEOUT };
            let is_over = emptied.is_some_and(|emptied| is_idle || now >= emptied + longest);
            return !is_consuming || is_over;
        }
        let is_late = answered_at.is_some_and(|answered| now >= answered + DRAIN_TIMEOUT);
        !is_consuming || is_idle || is_late || now >= since + ANSWER_TIMEOUT + DRAIN_TIMEOUT
    }
}
