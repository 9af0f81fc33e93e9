//! A run seen from above: starts the workers, adds up what they report, says when to stop.

use std::{
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::{RecvTimeoutError, channel},
    },
    thread,
    time::{Duration, SystemTime},
};

use rabbitscope_data::{run::Verdict, scenario::Scenario};

use crate::{
    clock::{RunClock, nanos},
    connector::Connector,
    dial::Dialer,
    ledger::Ledger,
    outcome::{LoadOutcome, Progress},
    plan::LinkPlan,
    restore::Restorer,
    worker::{Control, Orders, Report, Worker},
};

/// How often orders from outside are looked at.
const NAP: Duration = Duration::from_millis(50);

/// What a run stands on.
pub(crate) struct Ground<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) plans: &'a [LinkPlan<'a>],
    pub(crate) dialer: &'a Dialer,
    pub(crate) restorer: &'a Restorer,
}

/// Runs the load; returns when every worker is done.
pub(crate) fn run(
    ground: &Ground<'_>,
    workers: Vec<Worker>,
    progress: &mut dyn FnMut(Progress<'_>),
    stop: &AtomicBool,
) -> LoadOutcome {
    let scenario = ground.scenario;
    let control = Control::default();
    let (reports, received) = channel();
    let started = SystemTime::now();
    let started_unix_nanos = started.duration_since(SystemTime::UNIX_EPOCH).map_or(0, nanos);
    let clock = RunClock::start();
    let mut ledger = Ledger::new(workers.len(), started);
    let ends = Ends::of(scenario);
    let mut verdict = Verdict::Completed;
    let connector = scenario.connecting.recovery.map(|recovery| {
        let doors = workers.iter().map(Worker::door).collect();
        Connector::new(ground, recovery, doors, reports.clone())
    });
    progress(Progress::Started { unix_nanos: started_unix_nanos });
    thread::scope(|scope| {
        if let Some(connector) = &connector {
            connector.start(scope);
        }
        let mut running = workers.len();
        for worker in workers {
            let orders = Orders {
                clock,
                mark: mark(started_unix_nanos),
                end: scenario.stop.duration.map_or(u64::MAX, nanos),
                control: &control,
                reports: reports.clone(),
                connector: connector.as_ref(),
            };
            scope.spawn(move || worker.run(&orders));
        }
        drop(reports);
        while running > 0 {
            match received.recv_timeout(NAP) {
                Ok(Report::Part(part)) => ledger.add(*part, progress),
                Ok(Report::Failed(failure)) => {
                    control.abort.store(true, Ordering::Relaxed);
                    if verdict == Verdict::Completed {
                        verdict = Verdict::Aborted { reason: failure.reason };
                    }
                }
                Ok(Report::Done) => running -= 1,
                Err(RecvTimeoutError::Timeout) => {}
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
        connector.iter().for_each(Connector::end);
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

#[cfg(test)]
mod tests {
    use rabbitscope_data::scenario;

    use super::*;

    const TEXT: &str = r#"
        name = "ends"
        run = { duration = "1s" }
        queues = [{ name = "q" }]
        publishers = [{ queue = "q", count = 2 }, { name = "other", queue = "q" }]
        consumers = [{ queue = "q", count = 3 }]
    "#;

    #[test]
    fn counts_end_a_run_when_a_whole_side_has_them() {
        /// With these groups counted, the run ends when so many publishers and consumers are done.
        fn check(counted: &[&str], done: (usize, usize), expected: bool) {
            let overrides: Vec<_> = counted.iter().map(|key| format!("{key}.messages=9")).collect();
            let scenario = scenario::parse(TEXT, "test", &overrides).unwrap();
            let control = Control::default();
            control.publishers_done.store(done.0, Ordering::Relaxed);
            control.consumers_done.store(done.1, Ordering::Relaxed);
            assert_eq!(Ends::of(&scenario).are_reached(&control), expected, "{counted:?} {done:?}");
        }
        let publishers = ["publishers.0", "publishers.1"];
        let all = ["publishers.0", "publishers.1", "consumers.0"];
        check(&[], (0, 0), false);
        check(&publishers[..1], (2, 0), false);
        check(&publishers, (2, 0), false);
        check(&publishers, (3, 0), true);
        check(&all[2..], (0, 3), true);
        check(&all, (3, 2), false);
        check(&all, (3, 3), true);
    }
}
