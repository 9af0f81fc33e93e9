//! The interval reports of a worker.

use rabbitscope_measurements::{
    IntervalReport, ObservationRecorder, PublisherCounts, Report, Responsiveness,
};
use rabbitscope_timing::RunInstant;

use super::{context::WorkerContext, event_loop::Worker};
use crate::link::Link;

impl Worker {
    fn responsiveness(&mut self) -> Responsiveness {
        let away = self.interval.take_longest_absence();
        let statuses = self.links.iter().map(Link::status);
        statuses.fold(Responsiveness { away, ..Responsiveness::default() }, |sum, status| {
            Responsiveness {
                unanswered: sum.unanswered + u64::from(status.is_unanswered),
                stalled: sum.stalled + u64::from(status.is_stalled),
                ..sum
            }
        })
    }

    /// Ends all reading. Messages without an answer count with their age.
    pub(super) fn give_up(&mut self, context: &WorkerContext<'_>) {
        for link in &mut self.links {
            let mut serve = self.interval.serve_context(&mut self.pacing.limiter, context);
            link.give_up(&mut serve);
        }
    }

    fn publisher_counts(&self) -> PublisherCounts {
        let publishers = self.links.iter().map(Link::publishers).filter(|count| *count > 0);
        publishers.fold(PublisherCounts::default(), |sum, count| PublisherCounts {
            publishers: sum.publishers + count,
            connections: sum.connections + 1,
        })
    }

    /// Reports the interval up to `now`, and begins the next one. `is_last`: no report follows.
    pub(super) fn report(&mut self, now: RunInstant, is_last: bool, context: &WorkerContext<'_>) {
        let report = self.next_report(now, is_last, context);
        context.reports.send(Report::Interval(report)).ok();
    }

    /// Holds back the report of the load's last interval, which ends now, for the messages that are on their way.
    pub(super) fn hold_report(&mut self, now: RunInstant, context: &WorkerContext<'_>) {
        self.held = Some(self.next_report(now, false, context));
    }

    /// Adds newly accepted messages to the held report. Sends it unless `is_held`.
    pub(super) fn release_report(&mut self, is_held: bool, context: &WorkerContext<'_>) {
        let Some(report) = &mut self.held else { return };
        report.measured.counts.accept(self.interval.measured.counts.take_accepted());
        if !is_held && let Some(report) = self.held.take() {
            context.reports.send(Report::Interval(report)).ok();
        }
    }

    fn next_report(
        &mut self,
        now: RunInstant,
        is_last: bool,
        context: &WorkerContext<'_>,
    ) -> Box<IntervalReport> {
        let draining = !self.stage.is_load();
        // Observations precede the report of the same time, so that the check is never behind the counts.
        self.interval.recorder.as_mut().map(ObservationRecorder::send);
        let (mut measured, start) = self.interval.take(now);
        measured.outstanding = self.links.iter().map(Link::unconfirmed).sum();
        measured.connections = self.links.iter().filter(|link| link.is_up()).count() as u64;
        measured.responsiveness = self.responsiveness();
        self.drain.delivered = 0;
        Box::new(IntervalReport {
            worker: self.number,
            // A short drain is one interval.
            second: if draining && !context.awaits_empty { 0 } else { self.interval.second },
            start,
            end: now,
            draining,
            is_last,
            measured,
            publisher_counts: self.publisher_counts(),
        })
    }
}
