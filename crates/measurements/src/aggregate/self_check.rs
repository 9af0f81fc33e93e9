//! The self-check: a rule that detects a load generator which was itself the limit. It judges each load thread in each
//! second.
//!
//! - A thread that runs all the time always has work, so that all waiting work waits for the thread.
//! - A thread that runs or waits for a CPU all the time is no better, unless the broker holds its publishers back
//!   meanwhile. Then the broker is the limit, and it may be using the CPU.
//! - Scheduled messages that were late, or skipped as late, were delayed by the client alone if socket and window had
//!   room.

use rabbitscope_runs::record::{ClientCheck, Counters, Doubt, DoubtKind, LoadTotals};
use rabbitscope_timing::Nanos;

use crate::report::{IntervalReport, PublisherCounts};

/// Share of a second from which a thread counts as saturated. Chosen: below 1, as the boundaries of an interval are not
/// exact.
const SATURATED_SHARE: f64 = 0.95;

/// Share of time for which the broker must hold a thread's publishers back to be the limit itself. Chosen: the larger
/// part of the time.
const HELD_BACK_SHARE: f64 = 0.5;

/// Largest share of saturated thread-seconds in a run that is not client-limited. Chosen: at least nine tenths of the
/// measurements are then unaffected.
const MAX_SATURATED_SHARE: f64 = 0.1;

/// Largest share of scheduled messages that the client may delay in a run that is not client-limited. A single stall of
/// 100 ms in 10 s is 1 %, and `client-delay` shows it. Beyond twice that, p99 and all above it belong to the client,
/// and the reported p95 is the broker's p93.
const MAX_LATE_SHARE: f64 = 0.02;

/// Fewest late messages for a verdict, however slow the schedule: one short stall of the machine is enough to cause
/// fewer. Chosen.
const MIN_LATE: u64 = 20;

/// Fewest thread-seconds for a verdict: one of three would already be a third of the run.
const MIN_THREAD_SECONDS: u64 = 3;

/// Shortest interval that is judged: shares of a shorter one depend on where it begins. Chosen: a second, less a tenth
/// for a late tick.
const MIN_INTERVAL: Nanos = Nanos::from_micros(900_000);

/// One load thread in one second. Shares are of real time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ThreadSecond {
    length: Nanos,
    /// Share for which the thread ran.
    pub(crate) busy: f64,
    /// Share for which the thread ran or waited for a CPU.
    demand: f64,
    /// Share for which the broker held the publishers back: by full sockets and alarms, by full windows or by credit,
    /// whichever was longest.
    held_back: f64,
    /// Share for which it held them back by full sockets and alarms alone.
    at_socket: f64,
    /// Share for which they had no credit.
    at_credit: f64,
}

impl ThreadSecond {
    /// Creates the second of a thread from its interval report.
    pub(super) fn from_report(report: &IntervalReport) -> Self {
        let length = report.end.since(report.start);
        Self::new(length, &report.measured.counts, report.publisher_counts)
    }

    pub(crate) fn new(length: Nanos, counts: &Counters, publisher_counts: PublisherCounts) -> Self {
        let share = |part: u64, whole: usize| {
            let whole = length.get() as f64 * whole.max(1) as f64;
            if whole > 0.0 { part as f64 / whole } else { 0.0 }
        };
        let at_socket = counts.socket_stall_nanos + counts.blocked_nanos;
        let at_socket = share(at_socket, publisher_counts.connections);
        let at_window = share(counts.window_full_nanos, publisher_counts.publishers);
        let at_credit = share(counts.credit_wait_nanos, publisher_counts.publishers);
        Self {
            length,
            busy: share(counts.client_cpu_nanos, 1),
            demand: share(counts.client_cpu_nanos + counts.client_wait_nanos, 1),
            held_back: at_socket.max(at_window).max(at_credit),
            at_socket,
            at_credit,
        }
    }

    fn is_saturated(&self) -> bool {
        self.busy >= SATURATED_SHARE
            || (self.demand >= SATURATED_SHARE && self.held_back < HELD_BACK_SHARE)
    }
}

/// The evidence of a run about the load generator.
#[derive(Debug, Default)]
pub(super) struct SelfCheck {
    check: ClientCheck,
    held_back: f64,
    at_socket: f64,
    at_credit: f64,
}

impl SelfCheck {
    pub(crate) fn add(&mut self, second: &ThreadSecond) {
        if second.length < MIN_INTERVAL {
            return;
        }
        let check = &mut self.check;
        check.thread_seconds += 1;
        check.saturated_thread_seconds += u64::from(second.is_saturated());
        check.busiest_share = check.busiest_share.max(second.busy);
        check.highest_demand = check.highest_demand.max(second.demand);
        self.held_back += second.held_back;
        self.at_socket += second.at_socket;
        self.at_credit += second.at_credit;
    }

    /// Returns the evidence, and the doubt about the run if there is one.
    pub(crate) fn finish(self, measured: &LoadTotals) -> (ClientCheck, Option<Doubt>) {
        let seconds = self.check.thread_seconds;
        let check = ClientCheck {
            scheduled: measured.counts.scheduled,
            late_by_client: measured.counts.late_by_client,
            held_back_share: self.held_back / seconds.max(1) as f64,
            sockets_full_share: self.at_socket / seconds.max(1) as f64,
            without_credit_share: self.at_credit / seconds.max(1) as f64,
            ..self.check
        };
        let exceeds = |part: u64, whole: u64, most: f64| part as f64 > most * whole as f64;
        let is_saturated = exceeds(check.saturated_thread_seconds, seconds, MAX_SATURATED_SHARE);
        let is_late = check.late_by_client >= MIN_LATE
            && exceeds(check.late_by_client, check.scheduled, MAX_LATE_SHARE);
        let reason = match (is_saturated, is_late) {
            _ if seconds < MIN_THREAD_SECONDS => None,
            (true, _) => Some(format!(
                "the load threads had no time left in {} of {seconds} thread-seconds (the busiest used {:.0} % of a \
                 CPU, {:.0} % with waiting for one); the broker held publishers back for {:.0} % of the time",
                check.saturated_thread_seconds,
                100.0 * check.busiest_share,
                100.0 * check.highest_demand,
                100.0 * check.held_back_share,
            )),
            (false, true) => Some(format!(
                "{} of {} scheduled messages were late, delayed only by the load generator",
                check.late_by_client, check.scheduled,
            )),
            (false, false) => None,
        };
        let doubt = reason.map(|reason| Doubt { kind: DoubtKind::ClientLimited, reason });
        (check, doubt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = Nanos::SECOND.get();

    /// Ten seconds of one thread with ten publishers on two connections, in milliseconds a second.
    fn run(cpu: u64, wait: u64, stall: u64, full: u64) -> SelfCheck {
        let milli = SECOND / 1000;
        let counts = Counters {
            client_cpu_nanos: cpu * milli,
            client_wait_nanos: wait * milli,
            socket_stall_nanos: stall * milli * 2,
            window_full_nanos: full * milli * 10,
            ..Counters::default()
        };
        let publisher_counts = PublisherCounts { publishers: 10, connections: 2 };
        let mut check = SelfCheck::default();
        for _ in 0..10 {
            check.add(&ThreadSecond::new(Nanos::SECOND, &counts, publisher_counts));
        }
        check
    }

    #[test]
    fn the_limit_is_told_apart() {
        fn check(what: &str, cpu: u64, wait: u64, stall: u64, full: u64, expected: bool) {
            let (_, doubt) = run(cpu, wait, stall, full).finish(&LoadTotals::default());
            assert_eq!(doubt.is_some(), expected, "{what}: {doubt:?}");
        }
        check("idle", 10, 1, 0, 0, false);
        check("the broker's sockets are full", 400, 100, 900, 0, false);
        check("confirm windows are full", 300, 50, 0, 990, false);
        check("a sink takes everything", 990, 5, 20, 0, true);
        check("busy with a full window too", 985, 10, 0, 800, true);
        check("no CPU to be had", 500, 480, 10, 10, true);
        check("the broker uses the CPU and holds back", 500, 480, 0, 900, false);
    }

    #[test]
    fn late_messages_speak_against_the_client() {
        fn check(late_by_client: u64, scheduled: u64, expected: bool) {
            let measured = LoadTotals {
                counts: Counters { late_by_client, scheduled, ..Counters::default() },
                ..LoadTotals::default()
            };
            let (evidence, doubt) = run(200, 10, 0, 0).finish(&measured);
            assert_eq!(doubt.is_some(), expected, "{evidence:?}");
            assert_eq!((evidence.thread_seconds, evidence.scheduled), (10, scheduled));
        }
        check(0, 0, false);
        check(2, 21, false);
        check(19, 200, false);
        check(40, 2000, false);
        check(41, 2000, true);
    }

    #[test]
    fn little_evidence_says_nothing() {
        let mut check = SelfCheck::default();
        let counts = Counters { client_cpu_nanos: SECOND, ..Counters::default() };
        for nanos in [SECOND, SECOND, SECOND / 2, SECOND / 2] {
            check.add(&ThreadSecond::new(Nanos::new(nanos), &counts, PublisherCounts::default()));
        }
        let (evidence, doubt) = check.finish(&LoadTotals::default());
        assert_eq!((evidence.saturated_thread_seconds, doubt), (2, None));
    }
}
