//! Limits on the updates of a process. Updates come from other processes over a bus. A wrong update must not stop the
//! merging process or exhaust its memory, and its figures must not corrupt those of other processes.

use std::time::Duration;

use rabbitscope_runs::record::{Counter, Counters, Unit};
use rabbitscope_timing::RunInstant;

use super::{
    extent::{LONGEST_RUN, at_most},
    part::PartSize,
    update::{UpdateError, WorkerUpdate},
};
use crate::report::{IntervalMeasurements, IntervalReport, ServiceChange, TimedChange};

/// Messages, bytes or measurements of a whole run, over all processes. Chosen: bytes at 100 GB/s for four months; sums
/// of a dozen such numbers still fit.
const MAX_TOTAL: u64 = 1 << 60;

/// Time in an interval, summed over publishers or connections. Sums over intervals saturate. Chosen: a million
/// publishers for an hour; the sum of two such numbers still fits.
const MAX_NANOS: u64 = 1 << 62;

/// Connections or outstanding messages of a thread. Chosen: more than fit in memory.
const MAX_AT_ONCE: u64 = 1 << 32;

/// Length of a reason. Chosen: the broker's own reasons have 255 bytes.
const MAX_TEXT_BYTES: usize = 16 << 10;

/// The totals that the processes of a run have reported, and the limits for further updates.
pub(super) struct Bounds {
    parts: Vec<PartBounds>,
    counted: Counters,
    /// Latency samples, and messages without a latency.
    measured: u64,
}

struct PartBounds {
    /// Per thread: whether its latest interval belongs to the drain, and that interval's second.
    latest: Vec<Option<(bool, u32)>>,
}

/// State of a thread after its last interval.
const AFTER_LAST: Option<(bool, u32)> = Some((true, u32::MAX));

impl Bounds {
    pub(super) fn new(parts: &[PartSize]) -> Self {
        let parts = parts.iter().map(|size| PartBounds { latest: vec![None; size.threads()] });
        Self { parts: parts.collect(), counted: Counters::default(), measured: 0 }
    }

    /// Refuses an update that no run can produce, or that no run can produce by `latest`. After a refusal the caller
    /// drops the process.
    pub(super) fn admit(
        &mut self,
        process: usize,
        update: &WorkerUpdate,
        latest: RunInstant,
    ) -> Result<(), UpdateError> {
        self.check(process, update, latest).map_err(UpdateError::Impossible)
    }

    fn check(
        &mut self,
        process: usize,
        update: &WorkerUpdate,
        latest: RunInstant,
    ) -> Result<(), String> {
        let covered = update.covered_until;
        passed("the time of its latest update", covered, latest)?;
        update.changes.iter().try_for_each(|change| check_change(change, latest))?;
        let reasons = update.cut_short.iter().chain(&update.failed);
        reasons.map(String::as_str).try_for_each(check_text)?;
        for interval in &update.intervals {
            self.parts[process].check_turn(interval)?;
            passed("the end of an interval", interval.end, latest)?;
            // Without this check the rows would be complete, but their service data would not.
            if interval.end > covered {
                return Err("an interval ends after the time of its latest update".to_owned());
            }
            self.check_measured(&interval.measured)?;
            let counts = interval.publisher_counts;
            at_most_at_once("publishers", counts.publishers as u64)?;
            at_most_at_once("connections of publishers", counts.connections as u64)?;
        }
        Ok(())
    }

    fn check_measured(&mut self, measured: &IntervalMeasurements) -> Result<(), String> {
        let now = measured.responsiveness;
        at_most_at_once("outstanding messages", measured.outstanding)?;
        at_most_at_once("connections", measured.connections)?;
        at_most_at_once("unanswered connections", now.unanswered)?;
        at_most_at_once("stalled connections", now.stalled)?;
        at_most_at_once("connections that were not opened", now.unreached)?;
        in_run("the time without a poll", RunInstant::START + now.away)?;
        measured.churn_refusal.as_deref().map_or(Ok(()), check_text)?;
        self.counted.add(&measured.counts);
        let of_run = |counter: &&Counter| !matches!(counter.id.unit, Unit::Nanos);
        for counter in Counters::ALL.iter().filter(of_run) {
            at_most(counter.id.name, (counter.value)(&self.counted), MAX_TOTAL)?;
        }
        for counter in Counters::ALL.iter().filter(|counter| !of_run(counter)) {
            at_most(counter.id.name, (counter.value)(&measured.counts), MAX_NANOS)?;
        }
        self.measured = self.measured.saturating_add(measured.samples());
        at_most("measurements", self.measured, MAX_TOTAL)
    }
}

impl PartBounds {
    /// Checks that the intervals of a thread follow one another.
    fn check_turn(&mut self, interval: &IntervalReport) -> Result<(), String> {
        let IntervalReport { worker, second, start, end, draining, is_last, .. } = interval;
        let threads = self.latest.len();
        let latest = self.latest.get_mut(*worker).ok_or_else(|| {
            format!("an interval is of thread {worker}, and there are {threads} of them")
        })?;
        if start > end {
            return Err("an interval ends before it begins".to_owned());
        }
        if *second > start.second() {
            let of = start.second();
            return Err(format!("an interval of second {second} begins in second {of}"));
        }
        let turn = Some((*draining, *second));
        if turn <= *latest {
            return Err(format!("thread {worker} reports second {second} again"));
        }
        *latest = if *is_last { AFTER_LAST } else { turn };
        Ok(())
    }
}

fn check_change(
    TimedChange { at, change }: &TimedChange,
    latest: RunInstant,
) -> Result<(), String> {
    passed("the time of a change", *at, latest)?;
    match change {
        ServiceChange::Waited { since } if since > at => {
            Err("a wait for confirms ends before it begins".to_owned())
        }
        ServiceChange::Connected { count, .. } => at_most_at_once("connections", *count as u64),
        ServiceChange::Failed { count, reason, .. } => {
            at_most_at_once("errors", *count)?;
            check_text(reason)
        }
        ServiceChange::Lost { reason, .. } | ServiceChange::Blocked { reason } => {
            check_text(reason)
        }
        _ => Ok(()),
    }
}

fn check_text(text: &str) -> Result<(), String> {
    at_most("bytes of a reason", text.len(), MAX_TEXT_BYTES)
}

fn passed(what: &str, at: RunInstant, latest: RunInstant) -> Result<(), String> {
    in_run(what, at)?;
    if at <= latest {
        return Ok(());
    }
    let ahead = Duration::from(at.since(latest)).as_secs_f64();
    Err(format!("{what} is {ahead:.1} s ahead of any possible clock"))
}

fn in_run(what: &str, at: RunInstant) -> Result<(), String> {
    if at <= LONGEST_RUN { Ok(()) } else { Err(format!("{what} is later than the end of any run")) }
}

fn at_most_at_once(what: &str, count: u64) -> Result<(), String> {
    at_most(what, count, MAX_AT_ONCE)
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::record::Latency;
    use rabbitscope_timing::Nanos;

    use super::*;
    use crate::{
        remote::update::PartState,
        report::{PublisherCounts, Responsiveness, Side},
    };

    fn interval(worker: usize, draining: bool, second: u32) -> IntervalReport {
        IntervalReport {
            worker,
            second,
            start: RunInstant::of_second(second),
            end: RunInstant::of_second(second) + Nanos::SECOND,
            draining,
            is_last: false,
            measured: IntervalMeasurements::default(),
            publisher_counts: PublisherCounts::default(),
        }
    }

    fn bounds() -> Bounds {
        let size = PartSize { load_threads: 2, ..PartSize::default() };
        Bounds::new(&[size; 2])
    }

    /// Latest possible time by the clock.
    const CLOCK: RunInstant = RunInstant::from_nanos(100 * Nanos::SECOND.get());

    /// Checks the error for an update of the second process after a valid one.
    #[track_caller]
    fn check(expected: &str, change: impl FnOnce(&mut WorkerUpdate)) {
        let mut bounds = bounds();
        let intervals = vec![interval(0, false, 7), interval(1, false, 7)];
        let mut update = WorkerUpdate { intervals, ..WorkerUpdate::default() };
        update.covered_until = RunInstant::of_second(9);
        bounds.admit(1, &update, CLOCK).unwrap();
        update.intervals = vec![interval(0, false, 8), interval(1, true, 0)];
        change(&mut update);
        let said = bounds.admit(1, &update, CLOCK).map_err(|error| error.to_string());
        match (said, expected) {
            (Ok(()), "") => {}
            (Err(said), _) if !expected.is_empty() => assert!(said.contains(expected), "{said}"),
            (said, _) => panic!("{said:?}, not {expected}"),
        }
    }

    #[test]
    fn times_are_in_order_and_within_years() {
        let far = LONGEST_RUN + Nanos::SECOND;
        check("", |_| {});
        check("reports second 7 again", |update| update.intervals[0] = interval(0, false, 7));
        check("reports second 3 again", |update| update.intervals[0] = interval(0, false, 3));
        check("ends before it begins", |update| update.intervals[0].start = far);
        check("second 4294967295 begins in second 8", |update| {
            update.intervals[0].second = u32::MAX;
        });
        check("the end of an interval is later than the end of any run", |update| {
            update.intervals[0].end = far;
        });
        check("the end of an interval is 0.5 s ahead of any possible clock", |update| {
            update.covered_until = CLOCK;
            update.intervals[0].end = CLOCK + Nanos::from_micros(500_000);
        });
        let soon = CLOCK + Nanos::SECOND;
        check("latest update is 1.0 s ahead", |update| update.covered_until = soon);
        check("the time of a change is 1.0 s ahead", |update| {
            update.changes = vec![TimedChange { at: soon, change: ServiceChange::Unblocked }];
        });
        check("an interval ends after the time of its latest update", |update| {
            update.intervals[0].end = update.covered_until + Nanos::SECOND;
        });
        check("reports second 9 again", |update| {
            update.covered_until = CLOCK;
            update.intervals = vec![interval(0, false, 8), interval(0, false, 9)];
            update.intervals[0].is_last = true;
        });
        check("later than the end of any run", |update| {
            update.intervals[0] = interval(0, false, u32::MAX);
        });
        check("of thread 2, and there are 2", |update| update.intervals[0].worker = 2);
        check("the time of its latest update", |update| update.covered_until = far);
        check("without a poll", |update| {
            update.intervals[1].measured.responsiveness.away = Nanos::MAX;
        });
    }

    #[test]
    fn sums_fit() {
        let half = MAX_TOTAL / 2;
        check("", |update| update.intervals[0].measured.counts.published = 2 * half);
        check("published; the limit", |update| {
            update.intervals[0].measured.counts.published = half;
            update.intervals[1].measured.counts.published = half + 1;
        });
        check("bytes-read; the limit", |update| {
            update.intervals[0].measured.counts.bytes_read = u64::MAX;
        });
        check("client-cpu-nanos; the limit", |update| {
            update.intervals[0].measured.counts.client_cpu_nanos = MAX_NANOS + 1;
        });
        check("measurements; the limit", |update| {
            update.intervals[0].measured.measure(Latency::Confirm, Nanos::SECOND, half);
            update.intervals[0].measured.slots.store_selected();
            update.intervals[1].measured.overdue[3] = half + 1;
        });
        check("measurements; the limit", |update| {
            update.intervals[0].measured.unstamped = u64::MAX;
            update.intervals[0].measured.before_sent = u64::MAX;
        });
        check("outstanding messages; the limit", |update| {
            update.intervals[0].measured.outstanding = 1 << 33;
        });
        check("stalled", |update| {
            update.intervals[0].measured.responsiveness =
                Responsiveness { stalled: u64::MAX, ..Responsiveness::default() };
        });
        check("publishers; the limit", |update| {
            update.intervals[0].publisher_counts.publishers = usize::MAX;
        });
        check("", |update| update.state = PartState { ended: usize::MAX, ..PartState::default() });
    }

    #[test]
    fn the_sum_is_of_all_processes() {
        let mut bounds = bounds();
        let mut first = interval(0, false, 0);
        first.measured.counts.consumed = MAX_TOTAL - 5;
        let update = |first: &IntervalReport| WorkerUpdate {
            intervals: vec![first.clone()],
            covered_until: first.end,
            ..WorkerUpdate::default()
        };
        bounds.admit(0, &update(&first), CLOCK).unwrap();
        first.measured.counts.consumed = 6;
        let refused = bounds.admit(1, &update(&first), CLOCK);
        assert!(refused.unwrap_err().to_string().contains("consumed"));
    }

    #[test]
    fn changes_have_times_and_words() {
        let change = |at, change| vec![TimedChange { at: RunInstant::of_second(at), change }];
        let since = RunInstant::of_second(5);
        check("", |update| update.changes = change(5, ServiceChange::Waited { since }));
        check("a wait for confirms", |update| {
            update.changes = change(4, ServiceChange::Waited { since });
        });
        check("the time of a change", |update| {
            update.changes = change(u32::MAX, ServiceChange::Unblocked);
        });
        check("connections; the limit", |update| {
            let (side, count) = (Side::Sending, usize::MAX);
            update.changes = change(4, ServiceChange::Connected { side, count });
        });
        let long = "x".repeat(MAX_TEXT_BYTES + 1);
        check("bytes of a reason", |update| update.failed = Some(long.clone()));
        check("bytes of a reason", |update| update.cut_short = vec![String::new(), long.clone()]);
        check("bytes of a reason", |update| {
            update.intervals[1].measured.churn_refusal = Some(long.clone());
        });
        check("bytes of a reason", |update| {
            update.changes = change(4, ServiceChange::Blocked { reason: long.clone() });
        });
    }
}
