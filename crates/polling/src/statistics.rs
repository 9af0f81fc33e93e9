//! Counts and latencies of one group of pollers.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};

use rabbitscope_runs::record::{PollPoint, PollTotals};
use rabbitscope_timing::{LatencyHistogram, LatencyLog, LatencyRecord, Nanos, latency_point};

/// Status and length of a complete answer, or the cause of a failure.
pub(super) type Answer = Result<(u16, u64), &'static str>;

/// Counts since the last lap and over the whole run.
#[derive(Debug)]
pub(super) struct PollStatistics {
    name: String,
    point: PollPoint,
    /// Latencies from the send time and from the scheduled time.
    latencies: [LatencyHistogram; 2],
    logs: Option<[LatencyLog; 2]>,
    lap_start: Duration,
    totals: PollTotals,
}

impl PollStatistics {
    pub(super) fn new(name: &str, start: SystemTime) -> Self {
        let log = |suffix: &str, description: &str| {
            LatencyLog::named(format!("http-{name}{suffix}"), String::from(description), start)
        };
        let logs = [
            log("", "from sending a request to the last byte of its answer"),
            log("-intended", "from the time on the schedule to the last byte of the answer"),
        ];
        Self {
            name: name.to_owned(),
            point: PollPoint::default(),
            latencies: [LatencyHistogram::default(), LatencyHistogram::default()],
            logs: Some(logs),
            lap_start: Duration::ZERO,
            totals: PollTotals::default(),
        }
    }

    /// Records an answer. `actual` is the time since sending, `intended` the time since the scheduled time. Answers
    /// after the end are ignored.
    pub(super) fn record(
        &mut self,
        answer: &Answer,
        is_late: bool,
        actual: Nanos,
        intended: Nanos,
    ) {
        if self.logs.is_none() {
            return;
        }
        self.point.late += u64::from(is_late);
        match *answer {
            Ok((status, bytes)) => {
                self.point.answered += 1;
                self.point.refused += u64::from(status >= 400);
                self.point.bytes += bytes;
                *self.totals.statuses.entry(status).or_default() += 1;
                self.latencies[0].record(actual, 1);
                self.latencies[1].record(intended, 1);
            }
            Err(cause) => {
                self.point.failed += 1;
                *self.totals.errors.entry(cause.to_owned()).or_default() += 1;
            }
        }
    }

    /// Returns the results since the last lap; `now` is the time since the start.
    pub(super) fn lap(&mut self, now: Duration, is_warm_up: bool) -> PollPoint {
        let start = std::mem::replace(&mut self.lap_start, now);
        let gauges = std::mem::take(&mut self.latencies);
        for (log, gauge) in self.logs.iter_mut().flatten().zip(&gauges) {
            log.add(gauge, start, now.saturating_sub(start), is_warm_up);
        }
        let point = std::mem::take(&mut self.point);
        let totals = &mut self.totals;
        totals.answered += point.answered;
        totals.failed += point.failed;
        totals.late += point.late;
        totals.bytes += point.bytes;
        let [actual, intended] = &gauges;
        PollPoint {
            name: self.name.clone(),
            latency: latency_point(actual),
            intended_latency: latency_point(intended),
            ..point
        }
    }

    /// Ends the recording and returns the results.
    pub(super) fn close(&mut self, url: &str, scheduled: u64) -> (PollTotals, Vec<LatencyRecord>) {
        let logs = self.logs.take().into_iter().flatten();
        let latencies = logs.filter_map(LatencyLog::finish).collect();
        let done = self.totals.answered + self.totals.failed;
        let totals = PollTotals {
            name: self.name.clone(),
            url: url.to_owned(),
            // A request may have been sent and answered between the end and this point.
            scheduled: scheduled.max(done),
            unanswered: scheduled.saturating_sub(done),
            statuses: std::mem::take(&mut self.totals.statuses),
            errors: std::mem::take(&mut self.totals.errors),
            ..self.totals
        };
        (totals, latencies)
    }
}

/// The statistics that the threads of a group share.
pub(super) type SharedStatistics = Arc<Mutex<PollStatistics>>;

pub(super) fn lock(statistics: &Mutex<PollStatistics>) -> MutexGuard<'_, PollStatistics> {
    // Counters are consistent even if a thread has panicked.
    statistics.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn answers_are_counted_once() {
        let mut statistics = PollStatistics::new("p", SystemTime::UNIX_EPOCH);
        statistics.record(&Ok((200, 10)), false, Nanos::new(1000), Nanos::new(2000));
        statistics.record(&Ok((503, 5)), true, Nanos::new(3000), Nanos::new(9000));
        statistics.record(&Err("timeout"), true, Nanos::new(1), Nanos::new(1));
        let point = statistics.lap(Duration::from_secs(1), false);
        assert_eq!((point.answered, point.refused, point.failed, point.late), (2, 1, 1, 2));
        assert_eq!((point.bytes, point.name.as_str()), (15, "p"));
        assert!(point.intended_latency.unwrap().max > point.latency.unwrap().max);
        statistics.record(&Ok((200, 1)), false, Nanos::new(1), Nanos::new(1));
        statistics.lap(Duration::from_secs(2), false);
        let (totals, latencies) = statistics.close("/x", 7);
        assert_eq!((totals.answered, totals.failed, totals.unanswered), (3, 1, 3));
        assert_eq!((totals.scheduled, totals.bytes), (7, 16));
        assert_eq!(totals.statuses, BTreeMap::from([(200, 2), (503, 1)]));
        assert_eq!(totals.errors, BTreeMap::from([("timeout".to_owned(), 1)]));
        let files: Vec<_> = latencies.iter().map(|latency| latency.summary.file.as_str()).collect();
        assert_eq!(files, ["latency-http-p.hlog", "latency-http-p-intended.hlog"]);
        assert_eq!(latencies[0].summary.figures.percentiles.count, 3);
    }

    #[test]
    fn what_comes_after_the_end_counts_for_nothing() {
        let mut statistics = PollStatistics::new("p", SystemTime::UNIX_EPOCH);
        statistics.close("/x", 0);
        statistics.record(&Ok((200, 10)), false, Nanos::new(1000), Nanos::new(2000));
        assert_eq!(statistics.lap(Duration::from_secs(1), false).answered, 0);
    }
}
