//! Brings what processes tell of the broker's service into the order of time.
//!
//! Whether a side of the load has any connection at all is known only when the changes of all processes are counted
//! together, one after another.

use std::sync::Arc;

use crate::{
    clock::RunInstant,
    report::{ServiceMonitor, TimedChange},
};

/// Changes wait here until every process has told of all that was before them.
pub(super) struct ServiceOrder {
    monitor: Arc<ServiceMonitor>,
    waiting: Vec<TimedChange>,
    /// By process: it has told everything up to then.
    covered: Vec<RunInstant>,
}

impl ServiceOrder {
    pub(super) fn new(monitor: Arc<ServiceMonitor>, workers: usize) -> Self {
        Self { monitor, waiting: Vec::new(), covered: vec![RunInstant::START; workers] }
    }

    /// `worker` tells of `changes`, and that there were no others before `until`.
    pub(super) fn add(&mut self, worker: usize, changes: Vec<TimedChange>, until: RunInstant) {
        self.waiting.extend(changes);
        self.covered[worker] = self.covered[worker].max(until);
        self.apply();
    }

    /// `worker` will tell nothing more.
    pub(super) fn end(&mut self, worker: usize) {
        self.covered[worker] = RunInstant::NEVER;
        self.apply();
    }

    fn apply(&mut self) {
        let known = self.covered.iter().copied().min().unwrap_or(RunInstant::NEVER);
        // Stable: changes of one process at the same time stay in their order.
        self.waiting.sort_by_key(|change| change.at);
        let count = self.waiting.partition_point(|change| change.at <= known);
        for TimedChange { at, change } in self.waiting.drain(..count) {
            self.monitor.note(at, change);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{ServiceChange, Side};

    fn at(nanos: u64, change: ServiceChange) -> TimedChange {
        TimedChange { at: RunInstant::from_nanos(nanos), change }
    }

    fn connected() -> TimedChange {
        at(0, ServiceChange::Connected { side: Side::Sending, count: 1 })
    }

    fn gap(from: u64, to: u64) -> Vec<TimedChange> {
        let lost = ServiceChange::Lost { side: Side::Sending, reason: "gone".to_owned() };
        vec![at(from, lost), at(to, ServiceChange::Back { side: Side::Sending })]
    }

    #[test]
    fn there_was_no_service_while_no_process_had_any() {
        let monitor = Arc::new(ServiceMonitor::default());
        let mut order = ServiceOrder::new(Arc::clone(&monitor), 2);
        order.add(0, [vec![connected()], gap(200, 500)].concat(), RunInstant::from_nanos(1000));
        order.add(1, [vec![connected()], gap(100, 600)].concat(), RunInstant::from_nanos(900));
        order.add(0, gap(1100, 1200), RunInstant::from_nanos(2000));
        order.end(1);
        let spans = monitor.finish(RunInstant::from_nanos(2000)).spans;
        let spans: Vec<_> = spans.iter().map(|span| (span.from_nanos, span.to_nanos)).collect();
        assert_eq!(spans, [(200, 500)], "one of them had service all the other time");
    }

    #[test]
    fn waits_of_several_processes_are_stalls_of_the_load() {
        let second = 1_000_000_000;
        let waited = |from: u64, to: u64| {
            let since = RunInstant::from_nanos(from * second);
            vec![at(to * second, ServiceChange::Waited { since })]
        };
        let monitor = Arc::new(ServiceMonitor::default());
        let mut order = ServiceOrder::new(Arc::clone(&monitor), 2);
        order.add(0, [waited(1, 3), waited(7, 8)].concat(), RunInstant::from_nanos(9 * second));
        order.add(1, waited(2, 4), RunInstant::from_nanos(9 * second));
        let stalls = monitor.finish(RunInstant::from_nanos(10 * second)).stalls;
        let found: Vec<_> = stalls
            .iter()
            .map(|it| (it.from_nanos / second, it.to_nanos / second, it.waits))
            .collect();
        assert_eq!(found, [(1, 4, 2), (7, 8, 1)]);
    }
}
