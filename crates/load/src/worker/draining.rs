//! After the load: confirms are awaited, and consumers receive what is left in the queues.

use std::sync::atomic::Ordering;

use super::{context::WorkerContext, event_loop::Worker};
use crate::{clock::SECOND, link::Link, report::Failure};

/// How long outstanding confirms are awaited.
const CONFIRM_PATIENCE_NANOS: u64 = 5 * SECOND;

/// Consumers have drained when nothing came for this long, and are cut off after the second time.
const DRAIN_IDLE_NANOS: u64 = SECOND / 4;

const DRAIN_NANOS: u64 = 2 * SECOND;

impl Worker {
    pub(super) fn awaits_confirms(&self, since: u64, now: u64) -> bool {
        self.links.iter().any(|link| link.awaited() > 0) && now < since + CONFIRM_PATIENCE_NANOS
    }

    /// A drain that may take long has its seconds, too.
    pub(super) fn drain_on(&mut self, now: u64, orders: &WorkerContext<'_>) -> Result<(), Failure> {
        let boundary = (u64::from(self.second) + 1) * SECOND;
        if orders.awaits_empty && now >= boundary {
            self.tick(orders)?;
            self.report(now, true, false, orders);
            self.second = u32::try_from(now / SECOND).unwrap_or(u32::MAX);
        }
        Ok(())
    }

    /// Messages that came in this interval, only the run's own if they can be told: others may go on
    /// publishing for ever, and nobody waits for them.
    pub(super) fn delivered(&self, orders: &WorkerContext<'_>) -> u64 {
        let only_own = orders.knows_own && !orders.awaits_empty;
        let others = if only_own { self.measured.unstamped } else { 0 };
        self.measured.counts.consumed.saturating_sub(others)
    }

    pub(super) fn has_drained(&mut self, since: u64, now: u64, orders: &WorkerContext<'_>) -> bool {
        let delivered = self.delivered(orders);
        if delivered != self.last_delivery.0 {
            self.last_delivery = (delivered, now);
        }
        let others_confirm = orders.shared.confirming.load(Ordering::Relaxed) > 0;
        let is_idle = now >= self.last_delivery.1 + DRAIN_IDLE_NANOS && !others_confirm;
        let is_consuming = self.links.iter().any(Link::is_consuming);
        if orders.awaits_empty {
            let is_empty = orders.shared.is_empty.load(Ordering::Relaxed);
            let emptied = is_empty.then(|| *self.emptied_at.get_or_insert(now));
            let is_over = emptied.is_some_and(|at| is_idle || now >= at + DRAIN_NANOS);
            return !is_consuming || is_over;
        }
        !is_consuming || is_idle || now >= since + CONFIRM_PATIENCE_NANOS + DRAIN_NANOS
    }
}
