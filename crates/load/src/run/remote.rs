//! A run whose load comes from other processes: joins their updates, and decides when they stop.

use std::{
    collections::BTreeSet,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
        mpsc::channel,
    },
    thread,
    time::{Duration, Instant, SystemTime},
};

use rabbitscope_measurements::{
    LoadOutcome, Merger, Progress, RemoteEvent, RemoteStart, RemoteWorkers, SharedState,
    UpdateError,
};
use rabbitscope_runs::record::{Doubt, DoubtKind};

use super::{
    coordinator::{Coordinator, numbering},
    latest_end::{Hearing, LatestEnd, Overdue},
    queue_drain::QueueDrain,
    run_time::RunTime,
    waiting_bounds::Excess,
};
use crate::{connection_churn::ConnectionChurn, context::RunContext};

/// Longest wait for an event. Wishes and the stop flag are checked after it.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Interval between two attempts to restore the topology. Chosen.
const RESTORE_INTERVAL: Duration = Duration::from_secs(1);

/// Joins the load of all processes until each of them is done or dropped.
pub(crate) fn run_remote(
    context: &RunContext<'_>,
    begun: &RemoteStart,
    remote: &mut dyn RemoteWorkers,
    progress: &mut dyn FnMut(Progress<'_>),
    stop: &AtomicBool,
) -> LoadOutcome {
    join_parts(context, begun, remote, progress, (stop, &Instant::now))
}

/// Does the same as [`run_remote`], with a clock that a test can set.
pub(super) fn join_parts(
    context: &RunContext<'_>,
    begun: &RemoteStart,
    remote: &mut dyn RemoteWorkers,
    progress: &mut dyn FnMut(Progress<'_>),
    (stop, clock): (&AtomicBool, &dyn Fn() -> Instant),
) -> LoadOutcome {
    let shared = SharedState::default();
    let merger = Merger::new(&begun.parts, &shared);
    let started = SystemTime::UNIX_EPOCH + Duration::from_nanos(begun.unix_nanos);
    let numbering = numbering(context.scenario);
    let threads = merger.threads();
    let coordinator = Coordinator::new(context.scenario, &shared, (threads, started), numbering);
    let queue_drain = QueueDrain::new(context, &shared, merger.load_threads());
    let restoring = Restoring::default();
    let (reports, received) = channel();
    progress(Progress::Started { unix_nanos: begun.unix_nanos });
    let time = RunTime::new(clock(), begun.age);
    let churn = ConnectionChurn::longest_end(context.scenario, context.dialer, begun.parts.len());
    let mut latest_end = LatestEnd::new(context.scenario, churn);
    let mut hearing = Hearing::new(clock());
    let mut joining = Joining { coordinator, merger, shared: &shared, restoring: &restoring, time };
    joining.coordinator.running = threads;
    thread::scope(|scope| {
        if let Some(queue_drain) = &queue_drain {
            scope.spawn(move || queue_drain.watch(&reports));
        }
        scope.spawn(|| restoring.serve(context, &shared));
        while joining.coordinator.running > 0 {
            let asked = clock();
            let event = remote.next(POLL_INTERVAL, stop);
            let now = clock();
            hearing.note(asked, now, remote.is_behind());
            if let Some(event) = event {
                joining.take(event, now, remote, progress);
            }
            for report in received.try_iter() {
                joining.coordinator.take(report, progress);
            }
            joining.coordinator.check_end(stop);
            if let Some(overdue) = latest_end.check(now, time.at_least(now), &shared, &hearing) {
                joining.give_up_overdue(overdue, remote, progress);
            }
            remote.wish(joining.merger.wishes(&shared));
        }
        shared.is_over.store(true, Ordering::Relaxed);
    });
    let Joining { mut coordinator, .. } = joining;
    coordinator.check_emptied(queue_drain.as_ref());
    coordinator.aggregator.finish(begun.unix_nanos, coordinator.verdict, progress)
}

struct Joining<'a> {
    coordinator: Coordinator<'a>,
    merger: Merger,
    shared: &'a SharedState,
    restoring: &'a Restoring,
    time: RunTime,
}

impl Joining<'_> {
    fn take(
        &mut self,
        event: RemoteEvent,
        now: Instant,
        remote: &mut dyn RemoteWorkers,
        progress: &mut dyn FnMut(Progress<'_>),
    ) {
        match event {
            RemoteEvent::Update { worker, update } => {
                match self.merger.take(worker, &update, self.time.latest(now), self.shared) {
                    Ok(reports) => {
                        for report in reports {
                            self.coordinator.take(report, progress);
                        }
                        self.bound_waiting(worker, remote, progress);
                    }
                    Err(error) => self.refuse(worker, &error, remote, progress),
                }
                if self.shared.service.has_losses() {
                    self.restoring.ask();
                }
            }
            RemoteEvent::Notice(text) => progress(Progress::Notice(&text)),
            RemoteEvent::Lagging { worker, reason } => {
                if self.merger.is_running(worker) {
                    progress(Progress::Notice(&reason));
                    self.doubt(DoubtKind::WorkerLagging, reason);
                }
            }
            RemoteEvent::Lost { worker, reason } => {
                if self.give_up(worker, progress) {
                    progress(Progress::Notice(&reason));
                    self.doubt(DoubtKind::WorkerLost, reason);
                }
            }
        }
    }

    /// Drops a process that sent an impossible update, and aborts the run.
    fn refuse(
        &mut self,
        worker: usize,
        error: &UpdateError,
        remote: &mut dyn RemoteWorkers,
        progress: &mut dyn FnMut(Progress<'_>),
    ) {
        let who = remote.give_up(worker);
        self.shared.abort.store(true, Ordering::Relaxed);
        self.coordinator.cut_short(format!("{who} sent {error}"));
        // This may have been its last update, in which case no other would report its end.
        self.give_up(worker, progress);
    }

    /// Bounds the memory of the intervals that wait for silent processes.
    fn bound_waiting(
        &mut self,
        sender: usize,
        remote: &mut dyn RemoteWorkers,
        progress: &mut dyn FnMut(Progress<'_>),
    ) {
        while let Some(excess) = Excess::find(self.coordinator.aggregator.waiting()) {
            match excess {
                Excess::Slow { threads, intervals } => {
                    let slow: BTreeSet<_> = threads
                        .iter()
                        .filter_map(|thread| self.merger.of_thread(*thread))
                        .collect();
                    let why = format!("is behind: {intervals} seconds of the others wait for it");
                    for worker in slow {
                        self.give_up_late(worker, &why, remote, progress);
                    }
                }
                Excess::Large(what) => {
                    let error = UpdateError::Impossible(what);
                    self.refuse(sender, &error, remote, progress);
                    return;
                }
            }
        }
    }

    /// Drops processes that report that they go on although the scenario does not allow it.
    fn give_up_overdue(
        &mut self,
        overdue: Overdue,
        remote: &mut dyn RemoteWorkers,
        progress: &mut dyn FnMut(Progress<'_>),
    ) {
        for worker in self.merger.running() {
            if overdue == Overdue::Ending || self.merger.is_publishing(worker) {
                self.give_up_late(worker, overdue.text(), remote, progress);
            }
        }
    }

    fn give_up_late(
        &mut self,
        worker: usize,
        why: &str,
        remote: &mut dyn RemoteWorkers,
        progress: &mut dyn FnMut(Progress<'_>),
    ) {
        let who = remote.give_up(worker);
        let reason = format!("{who} {why}; it is dropped, and its further figures are missing");
        self.give_up(worker, progress);
        progress(Progress::Notice(&reason));
        self.doubt(DoubtKind::WorkerLagging, reason);
    }

    /// Stops waiting for a process. Returns false if it was done already.
    fn give_up(&mut self, worker: usize, progress: &mut dyn FnMut(Progress<'_>)) -> bool {
        let lost = self.merger.give_up(worker, self.shared);
        for thread in lost.threads {
            self.coordinator.aggregator.give_up(thread, progress);
        }
        self.coordinator.running -= lost.running;
        lost.running > 0
    }

    fn doubt(&mut self, kind: DoubtKind, reason: String) {
        self.coordinator.aggregator.doubt(Doubt { kind, reason });
    }
}

/// Restores the topology that a restart of the broker removed, as soon as a process reports a lost connection.
#[derive(Default)]
struct Restoring(Mutex<Option<Instant>>);

impl Restoring {
    fn ask(&self) {
        self.wanted().get_or_insert_with(Instant::now);
    }

    fn serve(&self, context: &RunContext<'_>, shared: &SharedState) {
        let Some(restorer) =
            context.restorer.filter(|_| context.scenario.broker.connecting.recovery.is_some())
        else {
            return;
        };
        while !shared.is_over.load(Ordering::Relaxed) {
            let wanted = *self.wanted();
            if let Some(lost) = wanted
                && restorer.restore(lost, context.dialer).is_ok()
            {
                *self.wanted() = None;
            }
            pause(shared);
        }
    }

    fn wanted(&self) -> std::sync::MutexGuard<'_, Option<Instant>> {
        self.0.lock().expect("an instant is put and taken without panicking")
    }
}

fn pause(shared: &SharedState) {
    let until = Instant::now() + RESTORE_INTERVAL;
    while Instant::now() < until && !shared.is_over.load(Ordering::Relaxed) {
        thread::sleep(POLL_INTERVAL);
    }
}
