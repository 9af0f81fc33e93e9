//! After the load: confirms are awaited, and consumers receive what is left in the queues.

use std::sync::atomic::Ordering;

use super::{
    context::WorkerContext,
    event_loop::Worker,
    stage::{DrainProgress, Stage},
};
use crate::{
    clock::{Nanos, RunInstant},
    link::{Link, ServeContext},
    report::Failure,
};

/// The wait for answers after the load is over when for this time none came and nothing was written. Chosen: a run must
/// end even when the broker answers nothing.
const ANSWER_IDLE_TIME: Nanos = Nanos::from_micros(5_000_000);

/// Timeout for all answers after the load, even when some still come. Chosen: what sockets hold of small messages is
/// taken in that time by a broker that takes ten thousand a second.
pub(crate) const ANSWER_TIMEOUT: Nanos = Nanos::from_micros(120_000_000);

/// Messages that the broker accepts so soon after the load count to its last second: they were on their way. Chosen: as
/// long as the time between two barriers.
const ACCEPT_GRACE: Nanos = Nanos::from_micros(50_000);

/// Consumers have drained when nothing was delivered for this time. Chosen.
const DRAIN_IDLE_TIME: Nanos = Nanos::from_micros(250_000);

/// Timeout for consumers after all answers, even when messages are still delivered. Chosen.
pub(crate) const DRAIN_TIMEOUT: Nanos = Nanos::from_micros(2_000_000);

impl Worker {
    /// The load is over: nothing more is published, and the drain begins.
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

    /// Asks for what is not known to be accepted. Responders go on sending in a drain.
    fn ask(&mut self, context: &WorkerContext<'_>) {
        for index in 0..self.links.len() {
            let mut serve = self.interval.serve_context(&mut self.pacing.limiter, context);
            if self.links[index].ask(&mut serve) {
                self.ready.push(index);
            }
        }
    }

    /// Answers are awaited as long as some come, or bytes leave for the broker.
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

    /// A drain that may take long is reported second by second.
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

    /// Messages delivered in this interval for the first time: those that are refused come again without end. Only those
    /// of this run, if they are known: others may go on publishing, and nobody waits for their messages.
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
        // What was accepted last is on its way to the consumers.
        let idle_since = answered_at.map(|at| at.max(progress.delivered_at));
        let is_idle = idle_since.is_some_and(|at| now >= at + DRAIN_IDLE_TIME);
        let is_consuming = self.links.iter().any(Link::is_consuming);
        if context.awaits_empty {
            let is_empty = context.shared.is_empty.load(Ordering::Relaxed);
            let emptied = is_empty.then(|| *progress.emptied_at.get_or_insert(now));
            let is_abandoned = context.shared.is_abandoned.load(Ordering::Relaxed);
            let longest = if is_abandoned { DRAIN_TIMEOUT } else { ANSWER_TIMEOUT };
            let is_over = emptied.is_some_and(|at| is_idle || now >= at + longest);
            return !is_consuming || is_over;
        }
        let is_late = answered_at.is_some_and(|at| now >= at + DRAIN_TIMEOUT);
        !is_consuming || is_idle || is_late || now >= since + ANSWER_TIMEOUT + DRAIN_TIMEOUT
    }
}
