//! Sorts the service changes that processes report by time.
//!
//! The changes of all processes have to be counted together, one after another. Only then is it known whether a side of
//! the load has any connection at all.

use std::sync::Arc;

use rabbitscope_timing::RunInstant;

use super::extent::{MAX_CHANGES, at_most};
use crate::report::{ServiceMonitor, TimedChange};

/// Changes of one process that wait for other processes. Chosen: the maximum of one update.
const MAX_WAITING: usize = MAX_CHANGES;

/// Bytes of the reasons in waiting changes. Chosen: the maximum of one update.
const MAX_WAITING_BYTES: usize = 64 << 20;

/// Changes that wait until every process has reported everything before them.
pub(super) struct ServiceOrder {
    monitor: Arc<ServiceMonitor>,
    /// Each change with its process.
    waiting: Vec<(usize, TimedChange)>,
    /// Per process: the time up to which it has reported all changes.
    covered: Vec<RunInstant>,
}

impl ServiceOrder {
    pub(super) fn new(monitor: Arc<ServiceMonitor>, workers: usize) -> Self {
        Self { monitor, waiting: Vec::new(), covered: vec![RunInstant::START; workers] }
    }

    /// Adds the `changes` of `worker`, which has reported all changes before `until`. Fails if too many of its changes
    /// wait.
    pub(super) fn add(
        &mut self,
        worker: usize,
        changes: Vec<TimedChange>,
        until: RunInstant,
    ) -> Result<(), String> {
        self.waiting.extend(changes.into_iter().map(|change| (worker, change)));
        self.covered[worker] = self.covered[worker].max(until);
        self.apply();
        let own = self.waiting.iter().filter(|(of, _)| *of == worker);
        let count = |(changes, bytes), (_, of): &(usize, TimedChange)| {
            (changes + 1, bytes + of.change.reason().map_or(0, str::len))
        };
        let (changes, bytes) = own.fold((0, 0), count);
        at_most("changes of the service that wait for other processes", changes, MAX_WAITING)?;
        at_most("bytes of reasons that wait for other processes", bytes, MAX_WAITING_BYTES)
    }

    /// Notes that `worker` will report nothing more.
    pub(super) fn end(&mut self, worker: usize) {
        self.covered[worker] = RunInstant::NEVER;
        self.apply();
    }

    fn apply(&mut self) {
        let known = self.covered.iter().copied().min().unwrap_or(RunInstant::NEVER);
        // The sort is stable: simultaneous changes of one process stay in their order.
        self.waiting.sort_by_key(|(_, change)| change.at);
        let count = self.waiting.partition_point(|(_, change)| change.at <= known);
        for (_, TimedChange { at, change }) in self.waiting.drain(..count) {
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
        order
            .add(0, [vec![connected()], gap(200, 500)].concat(), RunInstant::from_nanos(1000))
            .unwrap();
        order
            .add(1, [vec![connected()], gap(100, 600)].concat(), RunInstant::from_nanos(900))
            .unwrap();
        order.add(0, gap(1100, 1200), RunInstant::from_nanos(2000)).unwrap();
        order.end(1);
        let spans = monitor.finish(RunInstant::from_nanos(2000)).spans;
        let spans: Vec<_> = spans.iter().map(|span| (span.from_nanos, span.to_nanos)).collect();
        assert_eq!(spans, [(200, 500)], "one of them had service all the other time");
    }

    #[test]
    fn what_waits_is_bounded() {
        let mut order = ServiceOrder::new(Arc::default(), 2);
        let many = |reason: &str, count| {
            let reason = reason.to_owned();
            vec![at(9, ServiceChange::Blocked { reason }); count]
        };
        let until = RunInstant::from_nanos(10);
        order.add(0, many("", MAX_WAITING), until).unwrap();
        let refused = order.add(0, many("", 1), until).unwrap_err();
        assert!(refused.contains("1048577 changes of the service that wait"), "{refused}");
        order.add(1, many("", 1), until).unwrap();
        assert!(order.waiting.is_empty(), "both have told all");
        let long = "x".repeat(MAX_WAITING_BYTES / 4);
        let later = RunInstant::from_nanos(5);
        let mut order = ServiceOrder::new(Arc::default(), 2);
        order.add(0, many(&long, 4), later).unwrap();
        assert!(order.add(0, many("x", 1), later).unwrap_err().contains("bytes of reasons"));
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
        order
            .add(0, [waited(1, 3), waited(7, 8)].concat(), RunInstant::from_nanos(9 * second))
            .unwrap();
        order.add(1, waited(2, 4), RunInstant::from_nanos(9 * second)).unwrap();
        let stalls = monitor.finish(RunInstant::from_nanos(10 * second)).stalls;
        let found: Vec<_> = stalls
            .iter()
            .map(|stall| (stall.from_nanos / second, stall.to_nanos / second, stall.waits))
            .collect();
        assert_eq!(found, [(1, 4, 2), (7, 8, 1)]);
    }
}
