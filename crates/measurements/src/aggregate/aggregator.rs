//! The sum of all threads' interval reports: a row for each second, totals, latencies, losses.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use rabbitscope_runs::{
    record::{Doubt, Latency, LoadTotals, Measured, SecondRow, Verdict, Verification},
    scenario::RunOptions,
};
use rabbitscope_timing::{ChurnLogs, LatencyLog, RunInstant, SecondHistograms, Slots};
use rabbitscope_verify::{Checker, Observation};

use super::{
    interval::Interval,
    losses::{LossReasons, losses, lost_traces},
    open_intervals::{OpenIntervals, Waiting},
    self_check::SelfCheck,
    service_log::ServiceLog,
    trace::TraceCollector,
    warm_up::WarmUp,
};
use crate::{
    aggregate::breakdown::Breakdown,
    outcome::{LoadOutcome, Progress},
    report::{IntervalReport, ServiceMonitor},
};

/// Adds up the reports of a run's threads.
pub struct Aggregator {
    open: OpenIntervals,
    /// Outstanding messages at each worker's latest report.
    outstanding: Vec<u64>,
    measured: Measured,
    totals: LoadTotals,
    unstamped: u64,
    before_sent: u64,
    latencies: [LatencyLog; Latency::ALL.len()],
    breakdown: Breakdown,
    churn: ChurnLogs,
    churn_refusal: Option<String>,
    load_end: RunInstant,
    rows: u32,
    warm_up: WarmUp,
    self_check: SelfCheck,
    /// True if a failed self-check makes the run invalid.
    is_checked: bool,
    /// Checks deliveries, with `run.verify`.
    checker: Option<Checker>,
    verification: Option<Verification>,
    trace: TraceCollector,
    service: ServiceLog,
    /// Reasons to doubt the figures that do not come from the measurements.
    doubts: Vec<Doubt>,
}

impl Aggregator {
    /// Returns an empty sum for so many load threads.
    pub fn new(workers: usize, started: SystemTime, options: &RunOptions) -> Self {
        Self {
            open: OpenIntervals::new(workers),
            outstanding: vec![0; workers],
            measured: Measured::default(),
            totals: LoadTotals::default(),
            unstamped: 0,
            before_sent: 0,
            latencies: Latency::ALL.map(|latency| LatencyLog::new(latency, started)),
            breakdown: Breakdown::default(),
            churn: ChurnLogs::default(),
            churn_refusal: None,
            load_end: RunInstant::START,
            rows: 0,
            warm_up: WarmUp::new(options.warm_up),
            self_check: SelfCheck::default(),
            is_checked: options.self_check,
            checker: None,
            verification: None,
            trace: TraceCollector::default(),
            service: ServiceLog::default(),
            doubts: Vec::new(),
        }
    }

    /// Adds the latencies of churn.
    #[must_use]
    pub fn with_churn(mut self, churn: ChurnLogs) -> Self {
        self.churn = churn;
        self
    }

    /// Takes lost connections and alarms from this monitor.
    #[must_use]
    pub fn with_service(mut self, monitor: Arc<ServiceMonitor>) -> Self {
        self.service = ServiceLog::new(monitor);
        self
    }

    /// Breaks latencies down by these groups and queues.
    #[must_use]
    pub fn with_slots(mut self, slots: Slots) -> Self {
        self.breakdown = Breakdown::new(slots);
        self
    }

    /// Checks deliveries, if there is a checker.
    #[must_use]
    pub fn with_checker(mut self, checker: Option<Checker>) -> Self {
        self.checker = checker;
        self
    }

    /// Checks a batch of observations of one thread.
    pub fn check(&mut self, batch: &[Observation]) {
        if let Some(checker) = &mut self.checker {
            checker.observe(batch);
        }
        for observation in batch {
            if let Observation::Traced(step) = observation {
                self.trace.add(*step);
            }
        }
    }

    /// Returns the queues whose depths the check of deliveries needs; absent without a check.
    pub fn verified_queues(&self) -> Option<Vec<String>> {
        self.checker.as_ref().map(|checker| checker.queue_names().to_vec())
    }

    /// Completes the check after all connections are closed, with the messages left in each queue. Returns the number
    /// of lost messages.
    pub fn verify(&mut self, depths: &[Option<u64>]) -> u64 {
        self.verification = self.checker.as_ref().map(|checker| checker.finish(depths));
        self.verification.as_ref().map_or(0, |found| found.lost)
    }

    /// Adds the report of a thread, and reports completed seconds.
    pub fn add(&mut self, part: IntervalReport, progress: &mut dyn FnMut(Progress<'_>)) {
        self.outstanding[part.worker] = part.measured.outstanding;
        if !part.draining {
            self.load_end = self.load_end.max(part.end);
        }
        self.open.add(part);
        self.emit_complete(progress);
    }

    /// Drops a worker that sends no more reports, so that the rows do not wait for it.
    pub fn give_up(&mut self, worker: usize, progress: &mut dyn FnMut(Progress<'_>)) {
        self.open.give_up(worker);
        self.emit_complete(progress);
    }

    /// Returns the intervals that wait for workers.
    pub fn waiting(&self) -> Waiting {
        self.open.waiting()
    }

    /// Adds a reason to doubt the figures.
    pub fn doubt(&mut self, doubt: Doubt) {
        self.doubts.push(doubt);
    }

    fn emit_complete(&mut self, progress: &mut dyn FnMut(Progress<'_>)) {
        while let Some(((draining, second), interval)) = self.open.next_complete() {
            let second = if draining { self.rows } else { second };
            self.emit(second, interval, draining, progress);
        }
    }

    fn emit(
        &mut self,
        second: u32,
        mut interval: Interval,
        draining: bool,
        progress: &mut dyn FnMut(Progress<'_>),
    ) {
        if !draining {
            self.service.complete(&mut interval);
        }
        let Interval { start, end, mut measured, threads } = interval;
        let mut by_slot = measured.slots.take();
        self.breakdown.fill(&mut by_slot);
        let latencies = SecondHistograms::from_slots(&by_slot);
        if let Some(found) = self.checker.as_mut().map(Checker::news) {
            measured.counts.duplicates = found.duplicates;
            measured.counts.out_of_order = found.out_of_order;
        }
        let length = end.since(start);
        let (measured, threads) = (&measured, &threads);
        let mut row = SecondRow { draining, ..measured.row(&latencies, second, length) };
        row.client_busiest_share = threads.iter().map(|thread| thread.busy).reduce(f64::max);
        let is_warming =
            if draining { self.warm_up.is_on() } else { self.warm_up.takes(&row, start) };
        row.warming = is_warming && !draining;
        let begin = Duration::from(start.since(RunInstant::START));
        for (log, histogram) in self.latencies.iter_mut().zip(latencies.iter()) {
            log.add(histogram, begin, length.into(), is_warming);
        }
        for (log, overdue) in self.latencies.iter_mut().zip(&measured.overdue) {
            log.note_overdue(if is_warming { 0 } else { *overdue });
        }
        if !is_warming {
            self.breakdown.add(&by_slot);
        }
        self.churn.add(&measured.churn, begin, length.into(), is_warming);
        if self.churn_refusal.is_none() {
            self.churn_refusal.clone_from(&measured.churn_refusal);
        }
        self.totals.counts.add(&measured.counts);
        if row.warming {
            self.measured.warm_up_nanos = end.nanos();
        } else if !draining {
            self.measured.load.counts.add(&measured.counts);
            let sum = &mut self.measured.duration_nanos;
            *sum = sum.saturating_add(length.get());
            for thread in threads {
                self.self_check.add(thread);
            }
        }
        self.unstamped += measured.unstamped;
        self.before_sent += measured.before_sent;
        self.rows = second + 1;
        for (log, histogram) in self.latencies.iter().zip(latencies.iter()) {
            if let Some(histogram) = histogram.measured() {
                progress(Progress::Latency { name: log.name(), histogram });
            }
        }
        progress(Progress::Second(&row));
    }

    /// Returns the outcome of the load.
    pub fn finish(
        mut self,
        started_unix_nanos: u64,
        verdict: Verdict,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> LoadOutcome {
        self.open.end();
        self.emit_complete(progress);
        let totals = &mut self.totals;
        let answered = totals.counts.confirmed + totals.counts.nacked + totals.counts.unanswered;
        let open = totals.counts.published.saturating_sub(answered);
        totals.unconfirmed = self.outstanding.iter().sum::<u64>().min(open);
        totals.counts.requests_unanswered =
            totals.counts.requests.saturating_sub(totals.counts.replies);
        totals.lost = self.verification.as_ref().map_or(0, |found| found.lost);
        let alarm = self.service.alarm();
        let reasons =
            LossReasons { alarm: alarm.as_deref(), churn_refusal: self.churn_refusal.as_deref() };
        let mut losses = losses(totals, (self.unstamped, self.before_sent), reasons);
        let (trace, left_out) = self.trace.finish();
        losses.extend(lost_traces(left_out, trace.len()));
        let latencies = self.latencies.into_iter().filter_map(LatencyLog::finish);
        let (client, doubt) = self.self_check.finish(&self.measured.load);
        let (service, errors) = self.service.finish(self.load_end);
        let doubts = [doubt.filter(|_| self.is_checked), self.warm_up.doubt()];
        LoadOutcome {
            started_unix_nanos,
            duration: self.load_end.since(RunInstant::START).into(),
            measured: self.measured,
            totals: self.totals,
            latencies: latencies.chain(self.churn.finish()).collect(),
            breakdown: self.breakdown.finish(),
            losses,
            verdict,
            service,
            errors,
            client,
            doubts: doubts.into_iter().flatten().chain(self.doubts).collect(),
            verification: self.verification,
            trace,
        }
    }
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::scenario;
    use rabbitscope_timing::Nanos;

    use super::*;
    use crate::report::IntervalMeasurements;
    use crate::report::PublisherCounts;

    const SECOND: u64 = Nanos::SECOND.get();

    fn part(worker: usize, second: u32, published: u64, draining: bool) -> IntervalReport {
        let start = RunInstant::of_second(second);
        let mut measured =
            IntervalMeasurements { outstanding: published, ..IntervalMeasurements::default() };
        measured.counts.published = published;
        measured.counts.accept(if draining { 0 } else { published });
        measured.measure(Latency::Confirm, Nanos::from_micros(worker as u64 + 1), published);
        let (end, is_last) = (start + Nanos::SECOND, draining);
        IntervalReport {
            worker,
            second,
            start,
            end,
            draining,
            is_last,
            measured,
            publisher_counts: PublisherCounts::default(),
        }
    }

    /// Returns the rows as `(second, draining, published)`, the number of early rows, and the outcome.
    fn collect(
        workers: usize,
        parts: Vec<IntervalReport>,
    ) -> (Vec<(u32, bool, u64)>, usize, LoadOutcome) {
        let mut rows = Vec::new();
        let mut progress = |progress: Progress<'_>| {
            if let Progress::Second(row) = progress {
                rows.push((row.second, row.draining, row.counts.published));
            }
        };
        let mut aggregator =
            Aggregator::new(workers, SystemTime::UNIX_EPOCH, &RunOptions::default());
        for part in parts {
            aggregator.add(part, &mut progress);
        }
        let early = rows.len();
        let mut progress = |progress: Progress<'_>| {
            if let Progress::Second(row) = progress {
                rows.push((row.second, row.draining, row.counts.published));
            }
        };
        let outcome = aggregator.finish(7, Verdict::Completed, &mut progress);
        (rows, early, outcome)
    }

    #[test]
    fn a_row_waits_for_every_worker() {
        let parts = vec![
            part(0, 0, 10, false),
            part(0, 1, 20, false),
            part(1, 0, 1, false),
            part(0, 2, 3, true),
            part(1, 1, 2, false),
            part(1, 2, 4, true),
        ];
        let (rows, early, outcome) = collect(2, parts);
        assert_eq!(rows, [(0, false, 11), (1, false, 22), (2, true, 7)]);
        assert_eq!(early, 3, "the drain is known when every worker has told its last");
        assert_eq!(
            (outcome.measured.load.counts.published, outcome.totals.counts.published),
            (33, 40)
        );
        assert_eq!(outcome.duration, Duration::from_secs(2));
        assert_eq!(outcome.totals.unconfirmed, 7, "as in the latest report of each worker");
        assert_eq!(outcome.losses.len(), 1);
        let [confirm] = &outcome.latencies[..] else { panic!("one latency was measured") };
        assert_eq!(
            (confirm.summary.figures.percentiles.count, confirm.summary.figures.min),
            (40, 1000)
        );
    }

    #[test]
    fn the_warm_up_is_counted_apart() {
        let warm_up = Some(scenario::WarmUp::Time(Duration::from_secs(1)));
        let options = RunOptions { warm_up, ..RunOptions::default() };
        let mut aggregator = Aggregator::new(1, SystemTime::UNIX_EPOCH, &options);
        let mut warming = Vec::new();
        let mut progress = |progress: Progress<'_>| {
            if let Progress::Second(row) = progress {
                warming.push(row.warming);
            }
        };
        for part in [part(0, 0, 10, false), part(0, 1, 20, false), part(0, 2, 3, true)] {
            aggregator.add(part, &mut progress);
        }
        let outcome = aggregator.finish(7, Verdict::Completed, &mut progress);
        assert_eq!(warming, [true, false, false]);
        assert_eq!(
            (outcome.measured.load.counts.published, outcome.totals.counts.published),
            (20, 33)
        );
        assert_eq!(
            (outcome.measured.warm_up_nanos, outcome.measured.duration_nanos),
            (SECOND, SECOND)
        );
        assert_eq!(outcome.latencies[0].summary.figures.percentiles.count, 23);
    }

    #[test]
    fn seconds_may_be_missing() {
        let (rows, early, _) =
            collect(2, vec![part(0, 0, 1, false), part(1, 0, 1, false), part(0, 4, 5, false)]);
        assert_eq!((rows, early), (vec![(0, false, 2), (4, false, 5)], 1));
    }

    #[test]
    fn nothing_at_all_is_an_outcome_too() {
        let (rows, _, outcome) = collect(1, Vec::new());
        assert!(rows.is_empty() && outcome.latencies.is_empty() && outcome.losses.is_empty());
    }
}
