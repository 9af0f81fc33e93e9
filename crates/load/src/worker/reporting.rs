//! The interval reports of a worker.

use super::{
    context::WorkerContext,
    event_loop::{Worker, serve_context},
};
use crate::{
    clock::{thread_cpu_nanos, thread_wait_nanos},
    link::Link,
    report::{IntervalReport, ObservationRecorder, PublisherCounts, Report, Responsiveness},
};

impl Worker {
    /// Sockets are about to be looked at.
    pub(super) fn note_presence(&mut self, now: u64) {
        let (since, longest) = self.away;
        self.away = (now, longest.max(now.saturating_sub(since)));
    }

    fn outstanding(&self) -> u64 {
        self.links.iter().map(Link::unconfirmed).sum()
    }

    fn attention(&mut self) -> Responsiveness {
        let away_nanos = std::mem::take(&mut self.away.1);
        let statuses = self.links.iter().map(Link::status);
        statuses.fold(Responsiveness { away_nanos, ..Responsiveness::default() }, |sum, status| {
            Responsiveness {
                unanswered: sum.unanswered + u64::from(status.is_unanswered),
                stalled: sum.stalled + u64::from(status.is_stalled),
                ..sum
            }
        })
    }

    /// Nothing more is read: what has no answer counts with its age.
    pub(super) fn give_up(&mut self, orders: &WorkerContext<'_>) {
        for link in &mut self.links {
            link.give_up(&mut serve_context(
                &mut self.measured,
                &mut self.recorder,
                &mut self.limiter,
                orders,
            ));
        }
    }

    fn publisher_counts(&self) -> PublisherCounts {
        let publishers = self.links.iter().map(Link::publishers).filter(|count| *count > 0);
        publishers.fold(PublisherCounts::default(), |publisher_counts, count| PublisherCounts {
            publishers: publisher_counts.publishers + count,
            connections: publisher_counts.connections + 1,
        })
    }

    pub(super) fn report(
        &mut self,
        now: u64,
        draining: bool,
        is_last: bool,
        orders: &WorkerContext<'_>,
    ) {
        // Before the report of the same time, so that the check is never behind the counts.
        self.recorder.as_mut().map(ObservationRecorder::send);
        let mut measured = std::mem::take(&mut self.measured);
        measured.park();
        let cpu = thread_cpu_nanos();
        let wait = thread_wait_nanos();
        measured.counts.client_cpu_nanos = cpu.saturating_sub(self.cpu_at_start);
        measured.counts.client_wait_nanos = wait.saturating_sub(self.wait_at_start);
        measured.outstanding = self.outstanding();
        measured.connections = self.links.iter().filter(|link| link.is_up()).count() as u64;
        measured.attention = self.attention();
        self.last_delivery.0 = 0;
        let part = IntervalReport {
            worker: self.number,
            // Short drains are told in one piece.
            second: if draining && !orders.awaits_empty { 0 } else { self.second },
            start: self.interval_start,
            end: now,
            draining,
            is_last,
            measured,
            publisher_counts: self.publisher_counts(),
        };
        self.interval_start = now;
        (self.cpu_at_start, self.wait_at_start) = (cpu, wait);
        orders.reports.send(Report::Interval(Box::new(part))).ok();
    }
}
