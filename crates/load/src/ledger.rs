//! What the workers reported, added up: a row for each second, totals, latencies, losses.

use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime},
};

use rabbitscope_data::run::{LoadTotals, Loss, Measured, SecondRow, Verdict};
use rabbitscope_data::scenario::RunOptions;

use crate::{
    churn::ChurnLogs,
    latency::{Latency, LatencyLog},
    outcome::{LoadOutcome, Progress},
    self_check::{SelfCheck, ThreadSecond},
    tally::{self, Tally},
    warm_up::WarmUp,
    worker::Part,
};

/// Everything that was reported.
pub(crate) struct Ledger {
    /// Seconds that not every worker has reported yet.
    open: BTreeMap<u32, Interval>,
    drain: Option<Interval>,
    /// The second that each worker will report next.
    frontier: Vec<u32>,
    /// Outstanding messages at each worker's latest report.
    outstanding: Vec<u64>,
    measured: Measured,
    totals: LoadTotals,
    unstamped: u64,
    latencies: [LatencyLog; Latency::ALL.len()],
    churn: ChurnLogs,
    churn_refusal: Option<String>,
    load_end: u64,
    rows: u32,
    warm_up: WarmUp,
    self_check: SelfCheck,
    /// Doubts about the client make the run invalid.
    is_checked: bool,
}

struct Interval {
    start: u64,
    end: u64,
    tally: Tally,
    threads: Vec<ThreadSecond>,
}

impl Interval {
    fn of(part: Part) -> Self {
        let threads = vec![part.thread_second()];
        Self { start: part.start, end: part.end, tally: part.tally, threads }
    }

    fn add(&mut self, part: &Part) {
        self.threads.push(part.thread_second());
        self.start = self.start.min(part.start);
        self.end = self.end.max(part.end);
        self.tally.add(&part.tally);
    }
}

impl Ledger {
    pub(crate) fn new(workers: usize, started: SystemTime, options: &RunOptions) -> Self {
        Self {
            open: BTreeMap::new(),
            drain: None,
            frontier: vec![0; workers],
            outstanding: vec![0; workers],
            measured: Measured::default(),
            totals: LoadTotals::default(),
            unstamped: 0,
            latencies: Latency::ALL.map(|latency| LatencyLog::new(latency, started)),
            churn: ChurnLogs::default(),
            churn_refusal: None,
            load_end: 0,
            rows: 0,
            warm_up: WarmUp::of(options.warm_up),
            self_check: SelfCheck::default(),
            is_checked: options.self_check,
        }
    }

    /// Latencies of churn will be reported, too.
    pub(crate) fn with_churn(mut self, churn: ChurnLogs) -> Self {
        self.churn = churn;
        self
    }

    pub(crate) fn add(&mut self, part: Part, progress: &mut dyn FnMut(Progress<'_>)) {
        self.outstanding[part.worker] = part.tally.outstanding;
        let interval = if part.draining {
            self.frontier[part.worker] = u32::MAX;
            self.drain.as_mut()
        } else {
            self.frontier[part.worker] = part.second + 1;
            self.load_end = self.load_end.max(part.end);
            self.open.get_mut(&part.second)
        };
        if let Some(interval) = interval {
            interval.add(&part);
        } else {
            let (second, draining) = (part.second, part.draining);
            let interval = Interval::of(part);
            if draining {
                self.drain = Some(interval);
            } else {
                self.open.insert(second, interval);
            }
        }
        let complete = self.frontier.iter().copied().min().unwrap_or(u32::MAX);
        self.emit_before(complete, progress);
    }

    fn emit_before(&mut self, second: u32, progress: &mut dyn FnMut(Progress<'_>)) {
        while let Some(entry) = self.open.first_entry()
            && *entry.key() < second
        {
            let (second, interval) = entry.remove_entry();
            self.emit(second, &interval, false, progress);
        }
    }

    fn emit(
        &mut self,
        second: u32,
        interval: &Interval,
        draining: bool,
        progress: &mut dyn FnMut(Progress<'_>),
    ) {
        let Interval { start, end, tally, threads } = interval;
        let mut row = SecondRow { draining, ..tally.row(second, end - start) };
        row.client_busiest_share = threads.iter().map(|thread| thread.busy).reduce(f64::max);
        let is_warming =
            if draining { self.warm_up.is_on() } else { self.warm_up.takes(&row, *start) };
        row.warming = is_warming && !draining;
        let (begin, length) = (Duration::from_nanos(*start), Duration::from_nanos(end - start));
        for (log, gauge) in self.latencies.iter_mut().zip(&tally.latencies) {
            log.add(gauge, begin, length, is_warming);
        }
        self.churn.add(&tally.churn, begin, length, is_warming);
        if self.churn_refusal.is_none() {
            self.churn_refusal.clone_from(&tally.churn_refusal);
        }
        tally::add(&mut self.totals, &tally.counts);
        if row.warming {
            self.measured.warm_up_nanos = *end;
        } else if !draining {
            tally::add(&mut self.measured.load, &tally.counts);
            self.measured.duration_nanos += end - start;
            for thread in threads {
                self.self_check.add(thread);
            }
        }
        self.unstamped += tally.unstamped;
        self.rows = second + 1;
        for (log, gauge) in self.latencies.iter().zip(&tally.latencies) {
            if let Some(histogram) = gauge.measured() {
                progress(Progress::Latency { name: log.name(), histogram });
            }
        }
        progress(Progress::Second(&row));
    }

    pub(crate) fn finish(
        mut self,
        started_unix_nanos: u64,
        verdict: Verdict,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> LoadOutcome {
        self.emit_before(u32::MAX, progress);
        if let Some(drain) = self.drain.take() {
            self.emit(self.rows, &drain, true, progress);
        }
        let totals = &mut self.totals;
        let answered = totals.confirmed + totals.nacked + totals.unanswered;
        let open = totals.published.saturating_sub(answered);
        totals.unconfirmed = self.outstanding.iter().sum::<u64>().min(open);
        totals.rpc.requests_unanswered = totals.rpc.requests.saturating_sub(totals.rpc.replies);
        let losses = losses(totals, self.unstamped, self.churn_refusal.as_deref());
        let latencies = self.latencies.into_iter().filter_map(LatencyLog::finish);
        let (client, doubt) = self.self_check.finish(&self.measured.load);
        let doubts = [doubt.filter(|_| self.is_checked), self.warm_up.doubt()];
        LoadOutcome {
            started_unix_nanos,
            duration: Duration::from_nanos(self.load_end),
            measured: self.measured,
            totals: self.totals,
            latencies: latencies.chain(self.churn.finish()).collect(),
            losses,
            verdict,
            client,
            doubts: doubts.into_iter().flatten().collect(),
            trace: Vec::new(),
        }
    }
}

fn losses(totals: &LoadTotals, unstamped: u64, refusal: Option<&str>) -> Vec<Loss> {
    let unconfirmed = Loss {
        what: "unconfirmed messages".to_owned(),
        count: totals.unconfirmed,
        of: totals.published,
        meaning: "sent, but neither confirmed nor refused before the end: they may be lost".into(),
    };
    let unanswered = Loss {
        what: "messages unanswered at a lost connection".to_owned(),
        count: totals.unanswered,
        of: totals.published,
        meaning: "sent over a connection that was lost before the broker confirmed or refused \
                  them: they may be lost"
            .to_owned(),
    };
    let unmeasured = Loss {
        what: "end-to-end latencies".to_owned(),
        count: unstamped,
        of: totals.consumed,
        meaning: "messages without a time stamp of this run (bodies below 12 bytes, or sent by \
                  another run): delivered and counted, but not measured"
            .to_owned(),
    };
    let dropped = Loss {
        what: "scheduled messages".to_owned(),
        count: totals.dropped,
        of: totals.scheduled,
        meaning:
            "not sent: they could not be at their time (`late = \"skip\"`), or the load ended \
                  first"
                .to_owned(),
    };
    let losses = [unconfirmed, unanswered, unmeasured, dropped]
        .into_iter()
        .chain(of_groups(totals, refusal));
    losses.filter(|loss| loss.count > 0).collect()
}

/// What callers and churn did not get. `refusal` is the first thing that was said about it.
fn of_groups(totals: &LoadTotals, refusal: Option<&str>) -> [Loss; 2] {
    let churn = &totals.churn;
    let unanswered = Loss {
        what: "round trips".to_owned(),
        count: totals.rpc.requests_unanswered,
        of: totals.rpc.requests,
        meaning: "requests to which no reply came in time: they are in no latency".to_owned(),
    };
    let failed = Loss {
        what: "openings and closings".to_owned(),
        count: churn.churn_failed,
        of: churn.churn_opened + churn.churn_closed + churn.churn_failed,
        meaning: format!(
            "refused by the broker or lost with their connection, first: {}",
            refusal.unwrap_or("no reason was given")
        ),
    };
    [unanswered, failed]
}

#[cfg(test)]
mod tests {
    use rabbitscope_data::scenario;

    use super::*;
    use crate::{clock::SECOND, self_check::Crew};

    fn part(worker: usize, second: u32, published: u64, draining: bool) -> Part {
        let start = u64::from(second) * SECOND;
        let mut tally = Tally { outstanding: published, ..Tally::default() };
        tally.counts.published = published;
        tally.measure(Latency::Confirm, 1000 * (worker as u64 + 1), published);
        Part { worker, second, start, end: start + SECOND, draining, tally, crew: Crew::default() }
    }

    /// Rows as `(second, draining, published)`, and the outcome.
    fn collect(workers: usize, parts: Vec<Part>) -> (Vec<(u32, bool, u64)>, usize, LoadOutcome) {
        let mut rows = Vec::new();
        let mut progress = |progress: Progress<'_>| {
            if let Progress::Second(row) = progress {
                rows.push((row.second, row.draining, row.published));
            }
        };
        let mut ledger = Ledger::new(workers, SystemTime::UNIX_EPOCH, &RunOptions::default());
        for part in parts {
            ledger.add(part, &mut progress);
        }
        let early = rows.len();
        let mut progress = |progress: Progress<'_>| {
            if let Progress::Second(row) = progress {
                rows.push((row.second, row.draining, row.published));
            }
        };
        let outcome = ledger.finish(7, Verdict::Completed, &mut progress);
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
        assert_eq!(early, 2, "the drain is known at the end only");
        assert_eq!((outcome.measured.load.published, outcome.totals.published), (33, 40));
        assert_eq!(outcome.duration, Duration::from_secs(2));
        assert_eq!(outcome.totals.unconfirmed, 7, "as in the latest report of each worker");
        assert_eq!(outcome.losses.len(), 1);
        let [confirm] = &outcome.latencies[..] else { panic!("one latency was measured") };
        assert_eq!((confirm.summary.count, confirm.summary.min), (40, 1000));
    }

    #[test]
    fn the_warm_up_is_counted_apart() {
        let warm_up = Some(scenario::WarmUp::Time(Duration::from_secs(1)));
        let options = RunOptions { warm_up, ..RunOptions::default() };
        let mut ledger = Ledger::new(1, SystemTime::UNIX_EPOCH, &options);
        let mut warming = Vec::new();
        let mut progress = |progress: Progress<'_>| {
            if let Progress::Second(row) = progress {
                warming.push(row.warming);
            }
        };
        for part in [part(0, 0, 10, false), part(0, 1, 20, false), part(0, 2, 3, true)] {
            ledger.add(part, &mut progress);
        }
        let outcome = ledger.finish(7, Verdict::Completed, &mut progress);
        assert_eq!(warming, [true, false, false]);
        assert_eq!((outcome.measured.load.published, outcome.totals.published), (20, 33));
        assert_eq!(
            (outcome.measured.warm_up_nanos, outcome.measured.duration_nanos),
            (SECOND, SECOND)
        );
        assert_eq!(outcome.latencies[0].summary.count, 23);
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
