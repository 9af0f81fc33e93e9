//! Coordinates a run: starts the workers, passes their reports to the aggregator, and decides when to stop.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, RecvTimeoutError, channel},
    },
    thread::{self, Scope},
    time::{Duration, SystemTime},
};

use rabbitscope_measurements::{
    Aggregator, LoadOutcome, ObservationSettings, Progress, Report, SharedState,
};
use rabbitscope_runs::{
    record::Verdict,
    scenario::{LatencyEnds, PublisherGroup, Scenario, UntilKind},
};
use rabbitscope_timing::{ChurnLogs, Nanos, Numbering, RunClock, RunInstant, Slots, run_tag};
use rabbitscope_verify::Checker;

use super::token_watch::watch_token;
use super::{
    end_conditions::{EndConditions, IdleTimeout},
    final_depths::verify,
    queue_drain::QueueDrain,
    workers::reconnector,
};
use crate::{
    connect::Reconnector,
    connection_churn::ConnectionChurn,
    context::{RunContext, RunSettings, barrier_interval},
    worker::{Worker, WorkerContext},
};

/// Interval at which the stop flag is checked.
const STOP_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Runs the load; returns when every worker is done.
pub(crate) fn run_load(
    context: &RunContext<'_>,
    workers: Vec<Worker>,
    progress: &mut dyn FnMut(Progress<'_>),
    stop: &AtomicBool,
) -> LoadOutcome {
    let scenario = context.scenario;
    let shared = SharedState::default();
    let (reports, received) = channel();
    wait_for_start(scenario, stop);
    let started = SystemTime::now();
    let started_unix_nanos =
        started.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| Nanos::from(since).get());
    let sides = workers.iter().flat_map(Worker::sides);
    sides.for_each(|side| shared.service.connected(side));
    let clock = RunClock::start();
    let dialling = ConnectionChurn::all(scenario, context.dialer, (workers.len(), context.share));
    let threads = workers.len() + dialling.len();
    let numbering = numbering(scenario);
    let run = RunSettings {
        clock,
        tag: run_tag(started_unix_nanos),
        numbering,
        is_consumed: !scenario.consumers.is_empty(),
        barrier_interval: barrier_interval(scenario),
        ends: LatencyEnds::from_scenario(scenario),
    };
    let queue_drain = QueueDrain::new(context, &shared, workers.len());
    let mut coordinator = Coordinator::new(scenario, &shared, (threads, started), numbering);
    let watched = (clock, shared.service.as_ref());
    let reconnector = reconnector(context, &workers, watched, &reports);
    progress(Progress::Started { unix_nanos: started_unix_nanos });
    thread::scope(|scope| {
        if let Some(reconnector) = &reconnector {
            reconnector.start(scope);
        }
        let worker_context = || WorkerContext {
            run,
            end: end_of_load(scenario),
            shared: &shared,
            reports: reports.clone(),
            reconnector: reconnector.as_ref(),
            token: context.dialer.token(),
            awaits_empty: queue_drain.is_some(),
            knows_own: scenario.publishers.iter().all(PublisherGroup::is_stamped),
            observations: coordinator.observations.clone(),
        };
        if let Some(queue_drain) = &queue_drain {
            let reports = reports.clone();
            scope.spawn(move || queue_drain.watch(&reports));
        }
        watch_token(scope, context.dialer, (&shared, clock));
        coordinator.running = start(scope, workers, &dialling, worker_context);
        drop(reports);
        coordinator.receive_reports(&received, progress, stop);
        reconnector.iter().for_each(Reconnector::end);
        shared.is_over.store(true, Ordering::Relaxed);
    });
    coordinator.check_emptied(queue_drain.as_ref());
    if let Some(restorer) = context.restorer {
        let depths = |queues: &[String]| restorer.depths(queues, context.dialer);
        verify(&mut coordinator.aggregator, depths, stop);
    }
    coordinator.aggregator.finish(started_unix_nanos, coordinator.verdict, progress)
}

/// Receives the reports of the threads and decides when they stop.
pub(super) struct Coordinator<'a> {
    shared: &'a SharedState,
    pub(super) aggregator: Aggregator,
    ends: EndConditions,
    idle: IdleTimeout,
    awaits_empty: bool,
    observations: Option<ObservationSettings>,
    /// Threads that have not reported their end.
    pub(super) running: usize,
    was_stopped: bool,
    pub(super) verdict: Verdict,
}

impl<'a> Coordinator<'a> {
    /// A coordinator for `threads` threads of a run that began at `started`.
    pub(super) fn new(
        scenario: &Scenario,
        shared: &'a SharedState,
        (threads, started): (usize, SystemTime),
        numbering: Numbering,
    ) -> Self {
        let churn = ChurnLogs::new(&scenario.churn, started);
        let checker = scenario.run.verify.then(|| Checker::new(scenario, numbering));
        let aggregator = Aggregator::new(threads, started, &scenario.run)
            .with_service(Arc::clone(&shared.service));
        Self {
            shared,
            aggregator: aggregator
                .with_churn(churn)
                .with_checker(checker)
                .with_slots(Slots::from_scenario(scenario)),
            ends: EndConditions::from_scenario(scenario),
            idle: IdleTimeout::from_scenario(scenario),
            awaits_empty: scenario.run.until == Some(UntilKind::Empty),
            observations: ObservationSettings::from_options(&scenario.run, numbering),
            running: 0,
            was_stopped: false,
            verdict: Verdict::Completed,
        }
    }

    /// Receives reports until all threads are done.
    fn receive_reports(
        &mut self,
        reports: &Receiver<Report>,
        progress: &mut dyn FnMut(Progress<'_>),
        stop: &AtomicBool,
    ) {
        while self.running > 0 {
            match reports.recv_timeout(STOP_POLL_INTERVAL) {
                Ok(report) => self.take(report, progress),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.check_end(stop);
        }
    }

    pub(super) fn take(&mut self, report: Report, progress: &mut dyn FnMut(Progress<'_>)) {
        match report {
            Report::Interval(part) => {
                self.idle.observe(&part);
                self.aggregator.add(*part, progress);
            }
            Report::Observed(batch) => {
                self.aggregator.check(&batch);
                self.observations.iter().for_each(ObservationSettings::taken);
            }
            Report::CutShort(reason) => self.cut_short(reason),
            Report::Failed(failure) => {
                self.shared.abort.store(true, Ordering::Relaxed);
                self.cut_short(failure.reason);
            }
            Report::Done => self.running -= 1,
        }
    }

    /// Ends the load if the user stops it, or a count or the idle time is reached.
    pub(super) fn check_end(&mut self, stop: &AtomicBool) {
        let shared = self.shared;
        if stop.load(Ordering::Relaxed) && !std::mem::replace(&mut self.was_stopped, true) {
            shared.was_stopped.store(true, Ordering::Relaxed);
            shared.is_abandoned.store(true, Ordering::Relaxed);
            let is_early = !shared.ending.swap(true, Ordering::Relaxed);
            let was_empty = shared.is_empty.swap(true, Ordering::Relaxed);
            if is_early || self.awaits_empty && !was_empty {
                self.cut_short("stopped before its end".to_owned());
            }
        }
        if self.ends.are_reached(shared) || self.idle.is_reached() {
            shared.ending.store(true, Ordering::Relaxed);
        }
    }

    /// Cuts the run short if `until = "empty"` was not met, or if messages were in the queues again afterwards.
    pub(super) fn check_emptied(&mut self, queue_drain: Option<&QueueDrain<'_>>) {
        let Some(queue_drain) = queue_drain else { return };
        if !self.shared.is_empty.load(Ordering::Relaxed) && queue_drain.left() != Some(0) {
            self.cut_short("all consumers ended before the queues were empty".to_owned());
        }
        match queue_drain.left_behind() {
            0 => {}
            1 => self.cut_short(
                "1 message was in the queues again when all connections were closed".to_owned(),
            ),
            left => self.cut_short(format!(
                "{left} messages were back in the queues after all connections were closed"
            )),
        }
    }

    /// Sets the verdict to aborted. The first reason counts.
    pub(super) fn cut_short(&mut self, reason: String) {
        if self.verdict == Verdict::Completed {
            self.verdict = Verdict::Aborted { reason };
        }
    }
}

/// Starts all threads. Returns the number of threads, each of which reports its end.
pub(super) fn start<'scope>(
    scope: &'scope Scope<'scope, '_>,
    workers: Vec<Worker>,
    dialling: &'scope [ConnectionChurn<'scope>],
    worker_context: impl Fn() -> WorkerContext<'scope>,
) -> usize {
    let count = workers.len() + dialling.len();
    for worker in workers {
        let worker_context = worker_context();
        scope.spawn(move || {
            worker_context.wait_for_start();
            worker.run(&worker_context);
        });
    }
    for churn in dialling {
        let worker_context = worker_context();
        scope.spawn(move || {
            worker_context.wait_for_start();
            churn.run(&worker_context);
        });
    }
    count
}

/// Scheduled end of the load, if nothing ends it earlier.
pub(super) fn end_of_load(scenario: &Scenario) -> RunInstant {
    scenario.run.duration.map_or(RunInstant::NEVER, |length| RunInstant::START + length.into())
}

/// Sleeps until the scenario's start time, if it has one in the future.
pub(crate) fn wait_for_start(scenario: &Scenario, stop: &AtomicBool) {
    let Some(start) = scenario.run.start_at.map(|unix| SystemTime::UNIX_EPOCH + unix) else {
        return;
    };
    while let Ok(rest) = start.duration_since(SystemTime::now())
        && !rest.is_zero()
        && !stop.load(Ordering::Relaxed)
    {
        thread::sleep(rest.min(STOP_POLL_INTERVAL));
    }
}

/// Numbering of the messages of all publishers of a scenario.
pub(super) fn numbering(scenario: &Scenario) -> Numbering {
    Numbering::new(scenario.publishers.iter().map(|group| group.count).sum())
}
