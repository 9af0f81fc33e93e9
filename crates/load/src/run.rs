//! A run seen from above: starts the workers, adds up what they report, says when to stop.

mod ends;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, RecvTimeoutError, channel},
    },
    thread::{self, Scope},
    time::{Duration, SystemTime},
};

use rabbitscope_runs::{
    record::Verdict,
    scenario::{PublisherGroup, Scenario, Until},
};

use crate::{
    breakdown::Slots,
    churn::{ChurnLogs, ConnectionChurn},
    clock::{RunClock, nanos},
    connector::Connector,
    dial::Dialer,
    emptying::Emptying,
    ledger::Ledger,
    outcome::{LoadOutcome, Progress},
    plan::LinkPlan,
    restore::Restorer,
    stamp::Numbering,
    verify::{Checker, Watch},
    worker::{Control, Orders, Report, Worker},
};
use ends::{Ends, Idle};

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
    wait_for_start(scenario, stop);
    let started = SystemTime::now();
    let started_unix_nanos = started.duration_since(SystemTime::UNIX_EPOCH).map_or(0, nanos);
    let sides = workers.iter().flat_map(Worker::sides);
    sides.for_each(|side| control.service.connected(side));
    let clock = RunClock::start();
    let dialling = ConnectionChurn::all(scenario, ground.dialer, workers.len());
    let threads = workers.len() + dialling.len();
    let numbering = Numbering::new(scenario.publishers.iter().map(|it| it.count).sum());
    let emptying = Emptying::of(ground, &control, workers.len());
    let mut overseer = Overseer::new(scenario, &control, (threads, started), numbering);
    let connector = scenario.connecting.recovery.map(|recovery| {
        let doors = workers.iter().map(Worker::door).collect();
        let watched = (clock, control.service.as_ref());
        Connector::new(ground, recovery, watched, doors, reports.clone())
    });
    progress(Progress::Started { unix_nanos: started_unix_nanos });
    thread::scope(|scope| {
        if let Some(connector) = &connector {
            connector.start(scope);
        }
        let orders = || Orders {
            clock,
            mark: mark(started_unix_nanos),
            numbering,
            end: scenario.stop.duration.map_or(u64::MAX, nanos),
            control: &control,
            reports: reports.clone(),
            connector: connector.as_ref(),
            awaits_empty: emptying.is_some(),
            is_consumed: !scenario.consumers.is_empty(),
            knows_own: scenario.publishers.iter().all(PublisherGroup::is_stamped),
            watch: overseer.watch.clone(),
        };
        if let Some(emptying) = &emptying {
            let reports = reports.clone();
            scope.spawn(move || emptying.watch(&reports));
        }
        overseer.running = start(scope, workers, &dialling, orders);
        drop(reports);
        overseer.watch_over(&received, progress, stop);
        connector.iter().for_each(Connector::end);
        control.is_over.store(true, Ordering::Relaxed);
    });
    if let Some(emptying) = &emptying
        && !control.is_empty.load(Ordering::Relaxed)
        && emptying.left() != Some(0)
    {
        overseer.cut_short("every consumer was done before the queues were empty".to_owned());
    }
    overseer.ledger.verify(|queues| ground.restorer.depths(queues, ground.dialer));
    overseer.ledger.finish(started_unix_nanos, overseer.verdict, progress)
}

/// Takes what the threads report and tells them when to stop.
struct Overseer<'a> {
    control: &'a Control,
    ledger: Ledger,
    ends: Ends,
    idle: Idle,
    awaits_empty: bool,
    watch: Option<Watch>,
    /// Threads that have not reported their end.
    running: usize,
    was_stopped: bool,
    verdict: Verdict,
}

impl<'a> Overseer<'a> {
    /// Of so many threads, from `started` on.
    fn new(
        scenario: &Scenario,
        control: &'a Control,
        (threads, started): (usize, SystemTime),
        numbering: Numbering,
    ) -> Self {
        let churn = ChurnLogs::new(&scenario.churn, started);
        let checker = scenario.run.verify.then(|| Checker::new(scenario, numbering));
        let ledger =
            Ledger::new(threads, started, &scenario.run).with_service(Arc::clone(&control.service));
        Self {
            control,
            ledger: ledger.with_churn(churn).with_checker(checker).with_slots(Slots::of(scenario)),
            ends: Ends::of(scenario),
            idle: Idle::of(scenario),
            awaits_empty: matches!(scenario.stop.until, Some(Until::Empty(_))),
            watch: Watch::of(&scenario.run, numbering),
            running: 0,
            was_stopped: false,
            verdict: Verdict::Completed,
        }
    }

    /// Returns when all of them are done.
    fn watch_over(
        &mut self,
        reports: &Receiver<Report>,
        progress: &mut dyn FnMut(Progress<'_>),
        stop: &AtomicBool,
    ) {
        while self.running > 0 {
            match reports.recv_timeout(NAP) {
                Ok(report) => self.take(report, progress),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.look(stop);
        }
    }

    fn take(&mut self, report: Report, progress: &mut dyn FnMut(Progress<'_>)) {
        match report {
            Report::Part(part) => {
                self.idle.observe(&part);
                self.ledger.add(*part, progress);
            }
            Report::Seen(batch) => {
                self.ledger.check(&batch);
                self.watch.iter().for_each(Watch::taken);
            }
            Report::CutShort(reason) => self.cut_short(reason),
            Report::Failed(failure) => {
                self.control.abort.store(true, Ordering::Relaxed);
                self.cut_short(failure.reason);
            }
            Report::Done => self.running -= 1,
        }
    }

    /// Is it time to stop?
    fn look(&mut self, stop: &AtomicBool) {
        let control = self.control;
        if stop.load(Ordering::Relaxed) && !std::mem::replace(&mut self.was_stopped, true) {
            let is_early = !control.ending.swap(true, Ordering::Relaxed);
            let was_empty = control.is_empty.swap(true, Ordering::Relaxed);
            if is_early || self.awaits_empty && !was_empty {
                self.cut_short("stopped before its end".to_owned());
            }
        }
        if self.ends.are_reached(control) || self.idle.is_reached() {
            control.ending.store(true, Ordering::Relaxed);
        }
    }

    /// The first reason counts.
    fn cut_short(&mut self, reason: String) {
        if self.verdict == Verdict::Completed {
            self.verdict = Verdict::Aborted { reason };
        }
    }
}

/// Starts everybody; says how many will report their end.
fn start<'scope>(
    scope: &'scope Scope<'scope, '_>,
    workers: Vec<Worker>,
    dialling: &'scope [ConnectionChurn<'scope>],
    orders: impl Fn() -> Orders<'scope>,
) -> usize {
    let count = workers.len() + dialling.len();
    for worker in workers {
        let orders = orders();
        scope.spawn(move || worker.run(&orders));
    }
    for churn in dialling {
        let orders = orders();
        scope.spawn(move || churn.run(&orders));
    }
    count
}

/// Sleeps until the scenario's start time, if it has one that is still to come.
fn wait_for_start(scenario: &Scenario, stop: &AtomicBool) {
    let Some(start) = scenario.run.start_at.map(|at| SystemTime::UNIX_EPOCH + at) else { return };
    while let Ok(rest) = start.duration_since(SystemTime::now())
        && !rest.is_zero()
        && !stop.load(Ordering::Relaxed)
    {
        thread::sleep(rest.min(NAP));
    }
}

/// Ties stamps to this run; two runs share it by chance once in 4,096.
#[expect(clippy::cast_possible_truncation, reason = "low bits are as good as any")]
fn mark(started_unix_nanos: u64) -> u16 {
    (started_unix_nanos >> 10 ^ started_unix_nanos >> 26 ^ u64::from(std::process::id())) as u16
}
