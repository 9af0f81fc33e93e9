//! Seconds without service: lost connections, alarms and silence of the broker.

use std::sync::Arc;

use rabbitscope_runs::record::{Counters, ErrorCount, Service, ServiceSpan, SpanKind};
use rabbitscope_timing::{Nanos, RunInstant};

use super::interval::Interval;
use crate::report::{IntervalMeasurements, Responsiveness, ServiceMonitor, UnavailableTime};

/// Longest time without a poll after which a load thread still knows whether the broker sent anything. Chosen: half a
/// second.
const MAX_ABSENCE: Nanos = Nanos::from_micros(500_000);

/// Shortest interval that is judged: a broker may pause for a shorter time. Chosen: a second, less a tenth for a late
/// tick.
const MIN_SILENCE: Nanos = Nanos::from_micros(900_000);

/// The intervals without service of a load.
#[derive(Default)]
pub(super) struct ServiceLog {
    monitor: Arc<ServiceMonitor>,
    before: Responsiveness,
    /// True if connections of churn reach no server.
    is_unreached: bool,
    /// Seconds in which the broker was silent or unreachable, joined.
    silences: Vec<ServiceSpan>,
}

impl ServiceLog {
    pub(super) fn new(monitor: Arc<ServiceMonitor>) -> Self {
        Self { monitor, ..Self::default() }
    }

    /// Adds the time without service to the next second of the load.
    pub(super) fn complete(&mut self, interval: &mut Interval) {
        let length = interval.end.since(interval.start);
        let UnavailableTime { down, alarm } = self.monitor.lap(interval.end);
        let (down, alarm) = (down.min(length), alarm.min(length));
        let measured = &mut interval.measured;
        let is_silent = length >= MIN_SILENCE
            && down + alarm == Nanos::ZERO
            && is_silent(&self.before, &measured.responsiveness, &measured.counts);
        self.note_reach(measured);
        let is_unreached = self.is_unreached && down == Nanos::ZERO;
        if is_silent {
            let reason = "nothing came from the broker although it owed answers";
            self.add_span(SpanKind::Silent, reason, interval);
        } else if is_unreached {
            self.add_span(SpanKind::Down, "no connection could be opened", interval);
        }
        let measured = &mut interval.measured;
        let is_without = is_silent || is_unreached;
        measured.counts.without_service_nanos = if is_without { length } else { down }.get();
        measured.counts.alarm_nanos = alarm.get();
        self.before = measured.responsiveness;
    }

    /// Notes whether churn reaches the broker. If a load only opens and closes connections, failures are the only sign
    /// of an absent broker. An attempt may take longer than a second.
    fn note_reach(&mut self, measured: &IntervalMeasurements) {
        let counts = &measured.counts;
        if counts.churn_opened + counts.reads > 0 {
            self.is_unreached = false;
        } else if measured.responsiveness.unreached > 0 {
            self.is_unreached = true;
        }
    }

    fn add_span(&mut self, kind: SpanKind, reason: &str, interval: &Interval) {
        let (from_nanos, to_nanos) = (interval.start.nanos(), interval.end.nanos());
        match self.silences.last_mut() {
            Some(last) if last.to_nanos == from_nanos && last.kind == kind => {
                last.to_nanos = to_nanos;
            }
            _ => {
                let reason = reason.to_owned();
                self.silences.push(ServiceSpan { kind, from_nanos, to_nanos, reason });
            }
        }
    }

    /// Returns the reason of the alarm that still blocks connections.
    pub(super) fn alarm(&self) -> Option<String> {
        self.monitor.alarm()
    }

    /// Returns the service of a load that ended at `load_end`, and its errors.
    pub(super) fn finish(self, load_end: RunInstant) -> (Service, Vec<ErrorCount>) {
        let found = self.monitor.finish(load_end);
        let is_silent = self
            .silences
            .last()
            .is_some_and(|span| RunInstant::from_nanos(span.to_nanos) + MAX_ABSENCE > load_end);
        let mut spans = found.spans;
        spans.extend(self.silences);
        spans.sort_by_key(|span| span.from_nanos);
        let service = Service {
            ended_without: found.is_down || is_silent,
            spans,
            spans_left_out: found.spans_left_out,
            stalls: found.stalls,
            stalls_left_out: found.stalls_left_out,
        };
        (service, found.errors)
    }
}

/// Returns whether the broker was silent. Either nothing was read although the broker owed answers from before the
/// interval to its end. Or nothing was read or written although sockets were full all the time.
fn is_silent(before: &Responsiveness, now: &Responsiveness, counts: &Counters) -> bool {
    let owed = before.unanswered > 0 && now.unanswered > 0;
    let stuck = before.stalled > 0 && now.stalled > 0 && counts.bytes_written == 0;
    counts.reads == 0 && (owed || stuck) && now.away < MAX_ABSENCE
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks whether the second of two such seconds is silent.
    #[track_caller]
    fn check(what: &str, change: impl FnOnce(&mut IntervalMeasurements), expected: bool) {
        let mut log = ServiceLog::default();
        let owed = Responsiveness { unanswered: 1, ..Responsiveness::default() };
        let second = |at: u32| {
            let measured =
                IntervalMeasurements { responsiveness: owed, ..IntervalMeasurements::default() };
            let (start, end) = (RunInstant::of_second(at), RunInstant::of_second(at + 1));
            Interval { start, end, measured, threads: Vec::new() }
        };
        log.complete(&mut second(0));
        let mut interval = second(1);
        change(&mut interval.measured);
        log.complete(&mut interval);
        let expected_nanos = if expected { Nanos::SECOND.get() } else { 0 };
        assert_eq!(interval.measured.counts.without_service_nanos, expected_nanos, "{what}");
        let (service, _) = log.finish(RunInstant::of_second(2));
        assert_eq!(
            (service.ended_without, service.spans.len() == 1),
            (expected, expected),
            "{what}"
        );
    }

    #[test]
    fn a_second_is_silent_when_nothing_comes_that_is_owed() {
        check("owed all the time", |_| {}, true);
        check("something came", |measured| measured.counts.reads = 1, false);
        check("nothing is owed any more", |measured| measured.responsiveness.unanswered = 0, false);
        check(
            "the client was not there",
            |measured| measured.responsiveness.away = Nanos::SECOND,
            false,
        );
        let stuck = Responsiveness { stalled: 1, ..Responsiveness::default() };
        check("was not stuck before", |measured| measured.responsiveness = stuck, false);
    }

    #[test]
    fn a_second_in_which_nobody_could_be_reached_is_one_without_service() {
        let mut log = ServiceLog::default();
        let mut without = Vec::new();
        // Opened, not reached.
        for (at, (opened, unreached)) in (0..).zip([(5, 0), (3, 2), (0, 2), (0, 0), (0, 1), (1, 9)])
        {
            let mut measured = IntervalMeasurements::default();
            measured.counts.churn_opened = opened;
            measured.responsiveness.unreached = unreached;
            let (start, end) = (RunInstant::of_second(at), RunInstant::of_second(at + 1));
            let mut interval = Interval { start, end, measured, threads: Vec::new() };
            log.complete(&mut interval);
            without.push(interval.measured.counts.without_service_nanos > 0);
        }
        assert_eq!(without, [false, false, true, true, true, false]);
        let (service, _) = log.finish(RunInstant::of_second(6));
        let [span] = &service.spans[..] else { panic!("{service:?}") };
        let second = Nanos::SECOND.get();
        assert_eq!(
            (span.kind, span.from_nanos, span.to_nanos),
            (SpanKind::Down, 2 * second, 5 * second)
        );
        assert!(!service.ended_without);
    }
}
