//! A run seen from above: starts the workers, adds up what they report, says when to stop.

use std::{
    collections::BTreeMap,
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::{RecvTimeoutError, channel},
    },
    thread,
    time::{Duration, SystemTime},
};

use rabbitscope_data::{
    run::{LoadTotals, Loss, Verdict},
    scenario::Scenario,
};

use crate::{
    clock::{RunClock, nanos},
    latency::LatencyLog,
    outcome::{LoadOutcome, Progress},
    tally::{self, Tally},
    worker::{Control, Orders, Part, Report, Worker},
};

/// How often orders from outside are looked at.
const NAP: Duration = Duration::from_millis(50);

/// Runs the load; returns when every worker is done.
pub(crate) fn run(
    scenario: &Scenario,
    workers: Vec<Worker>,
    progress: &mut dyn FnMut(Progress<'_>),
    stop: &AtomicBool,
) -> LoadOutcome {
    let control = Control::default();
    let (reports, received) = channel();
    let started = SystemTime::now();
    let started_unix_nanos = started.duration_since(SystemTime::UNIX_EPOCH).map_or(0, nanos);
    let clock = RunClock::start();
    let mut ledger = Ledger::new(workers.len(), started);
    let ends = Ends::of(scenario);
    let mut verdict = Verdict::Completed;
    progress(Progress::Started { unix_nanos: started_unix_nanos });
    thread::scope(|scope| {
        for worker in workers {
            let orders = Orders {
                clock,
                mark: mark(started_unix_nanos),
                end: scenario.stop.duration.map_or(u64::MAX, nanos),
                control: &control,
                reports: reports.clone(),
            };
            scope.spawn(move || worker.run(&orders));
        }
        drop(reports);
        loop {
            match received.recv_timeout(NAP) {
                Ok(Report::Part(part)) => ledger.add(*part, progress),
                Ok(Report::Failed(failure)) => {
                    control.abort.store(true, Ordering::Relaxed);
                    if verdict == Verdict::Completed {
                        verdict = Verdict::Aborted { reason: failure.0 };
                    }
                }
                Ok(Report::Done) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if stop.load(Ordering::Relaxed) && !control.ending.swap(true, Ordering::Relaxed) {
                let reason = "stopped before its end".to_owned();
                verdict = Verdict::Aborted { reason };
            }
            if ends.are_reached(&control) {
                control.ending.store(true, Ordering::Relaxed);
            }
        }
    });
    ledger.finish(started_unix_nanos, verdict, progress)
}

/// Ties stamps to this run; two runs share it by chance once in 65,536.
#[expect(clippy::cast_possible_truncation, reason = "low bits are as good as any")]
fn mark(started_unix_nanos: u64) -> u16 {
    (started_unix_nanos >> 10 ^ started_unix_nanos >> 26 ^ u64::from(std::process::id())) as u16
}

/// Message counts that end a run: all publishers or all consumers, if all of them have one.
struct Ends {
    publishers: Option<usize>,
    consumers: Option<usize>,
}

impl Ends {
    fn of(scenario: &Scenario) -> Self {
        let publishers =
            scenario.publishers.iter().map(|group| group.messages.map(|_| group.count as usize));
        let consumers =
            scenario.consumers.iter().map(|group| group.messages.map(|_| group.count as usize));
        let total = |counts: Option<usize>| counts.filter(|count| *count > 0);
        Self { publishers: total(publishers.sum()), consumers: total(consumers.sum()) }
    }

    fn are_reached(&self, control: &Control) -> bool {
        let reached = |count: Option<usize>, done: usize| count.is_none_or(|count| done >= count);
        (self.publishers.is_some() || self.consumers.is_some())
            && reached(self.publishers, control.publishers_done.load(Ordering::Relaxed))
            && reached(self.consumers, control.consumers_done.load(Ordering::Relaxed))
    }
}

/// Everything that was reported.
struct Ledger {
    /// Seconds that not every worker has reported yet.
    open: BTreeMap<u32, Interval>,
    drain: Option<Interval>,
    /// The second that each worker will report next.
    frontier: Vec<u32>,
    /// Outstanding messages at each worker's latest report.
    outstanding: Vec<u64>,
    during: LoadTotals,
    totals: LoadTotals,
    unstamped: u64,
    confirm: LatencyLog,
    end_to_end: LatencyLog,
    load_end: u64,
    rows: u32,
}

struct Interval {
    start: u64,
    end: u64,
    tally: Tally,
}

impl Interval {
    fn add(&mut self, part: &Part) {
        self.start = self.start.min(part.start);
        self.end = self.end.max(part.end);
        self.tally.add(&part.tally);
    }
}

impl Ledger {
    fn new(workers: usize, started: SystemTime) -> Self {
        let confirm = "from handing a message to the socket to reading its confirm";
        let end_to_end = "from handing a message to the socket to reading its delivery";
        Self {
            open: BTreeMap::new(),
            drain: None,
            frontier: vec![0; workers],
            outstanding: vec![0; workers],
            during: LoadTotals::default(),
            totals: LoadTotals::default(),
            unstamped: 0,
            confirm: LatencyLog::new("confirm", confirm, started),
            end_to_end: LatencyLog::new("end-to-end", end_to_end, started),
            load_end: 0,
            rows: 0,
        }
    }

    fn add(&mut self, part: Part, progress: &mut dyn FnMut(Progress<'_>)) {
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
            let interval = Interval { start: part.start, end: part.end, tally: part.tally };
            if part.draining {
                self.drain = Some(interval);
            } else {
                self.open.insert(part.second, interval);
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
        let Interval { start, end, tally } = interval;
        let (begin, length) = (Duration::from_nanos(*start), Duration::from_nanos(end - start));
        self.confirm.add(&tally.confirm, begin, length);
        self.end_to_end.add(&tally.end_to_end, begin, length);
        tally::add(&mut self.totals, &tally.counts);
        if !draining {
            tally::add(&mut self.during, &tally.counts);
        }
        self.unstamped += tally.unstamped;
        self.rows = second + 1;
        progress(Progress::Second(&tally.row(second, end - start, draining)));
    }

    fn finish(
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
        let unanswered = totals.published.saturating_sub(totals.confirmed + totals.nacked);
        totals.unconfirmed = self.outstanding.iter().sum::<u64>().min(unanswered);
        let losses = losses(totals, self.unstamped);
        let latencies = [self.confirm.finish(), self.end_to_end.finish()];
        LoadOutcome {
            started_unix_nanos,
            duration: Duration::from_nanos(self.load_end),
            during: self.during,
            totals: self.totals,
            latencies: latencies.into_iter().flatten().collect(),
            losses,
            verdict,
        }
    }
}

fn losses(totals: &LoadTotals, unstamped: u64) -> Vec<Loss> {
    let unconfirmed = Loss {
        what: "unconfirmed messages".to_owned(),
        count: totals.unconfirmed,
        of: totals.published,
        meaning: "sent, but neither confirmed nor refused before the end: they may be lost".into(),
    };
    let unmeasured = Loss {
        what: "end-to-end latencies".to_owned(),
        count: unstamped,
        of: totals.consumed,
        meaning: "messages without a time stamp of this run (bodies below 12 bytes, or sent by \
                  another run): delivered and counted, but not measured"
            .to_owned(),
    };
    [unconfirmed, unmeasured].into_iter().filter(|loss| loss.count > 0).collect()
}
