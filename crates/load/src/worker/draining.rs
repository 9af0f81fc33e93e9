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

/// Timeout for outstanding confirms after the load. Chosen: a run must end even when the broker
/// confirms nothing.
pub(crate) const CONFIRM_TIMEOUT: Nanos = Nanos::from_micros(5_000_000);

/// Consumers have drained when nothing was delivered for this time. Chosen.
const DRAIN_IDLE_TIME: Nanos = Nanos::from_micros(250_000);

/// Timeout for consumers after the confirms, even when messages are still delivered. Chosen.
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
        self.report(now, false, context);
        self.ready.push_all();
        context.shared.confirming.fetch_add(1, Ordering::Relaxed);
        context.shared.draining.fetch_add(1, Ordering::Relaxed);
        let delivered = self.delivered(context);
        self.drain = DrainProgress { delivered, delivered_at: now, emptied_at: None };
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
        self.report_drain(now, context)?;
        if is_confirming && !self.awaits_confirms(since, now) {
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

    fn awaits_confirms(&self, since: RunInstant, now: RunInstant) -> bool {
        self.links.iter().any(|link| link.awaited() > 0) && now < since + CONFIRM_TIMEOUT
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

    /// Messages delivered in this interval. Only those of this run, if they are known: others may
    /// go on publishing, and nobody waits for their messages.
    fn delivered(&self, context: &WorkerContext<'_>) -> u64 {
        let only_own = context.knows_own && !context.awaits_empty;
        let measured = &self.interval.measured;
        let others = if only_own { measured.unstamped } else { 0 };
        measured.counts.consumed.saturating_sub(others)
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
        let is_idle = now >= progress.delivered_at + DRAIN_IDLE_TIME && !others_confirm;
        let is_consuming = self.links.iter().any(Link::is_consuming);
        if context.awaits_empty {
            let is_empty = context.shared.is_empty.load(Ordering::Relaxed);
            let emptied = is_empty.then(|| *progress.emptied_at.get_or_insert(now));
            let is_over = emptied.is_some_and(|at| is_idle || now >= at + DRAIN_TIMEOUT);
            return !is_consuming || is_over;
        }
        !is_consuming || is_idle || now >= since + CONFIRM_TIMEOUT + DRAIN_TIMEOUT
    }
}
