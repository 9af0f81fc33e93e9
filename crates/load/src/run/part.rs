//! A part of a run, which reports to another process.

use std::{
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, channel},
    },
    thread,
    time::{Duration, Instant},
};

use rabbitscope_measurements::{
    Collector, PartHost, PartSize, PartStart, PartWishes, Report, SharedState,
};
use rabbitscope_runs::scenario::{LatencyEnds, PublisherGroup, Scenario, UntilKind};
use rabbitscope_timing::RunClock;
use rabbitscope_topology::Dialer;

use super::token_watch::watch_token;
use super::{
    coordinator::{end_of_load, numbering, start},
    workers::{assemble, prepare_connections, reconnector, threads},
};
use crate::{
    connect::{PreparedConnection, Reconnector},
    connection_churn::ConnectionChurn,
    context::{RunContext, RunSettings, barrier_interval},
    error::LoadError,
    message::BodyFiles,
    plan::plan_links,
    share::Share,
    worker::{Worker, WorkerContext},
};

/// Interval at which wishes are read and updates are sent. Chosen: people do not notice a fiftieth of a second, and it
/// costs next to nothing.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Connects this process's share of `scenario`, waits for the start and runs its load. The topology exists already;
/// `run` is the token of its names.
///
/// Files are read, as far as `files` allows it, before any connection is made. Returns when every thread is done, or,
/// if `stop` becomes true before the start, without starting.
pub fn run_part(
    scenario: &Scenario,
    run: &str,
    share: Share,
    files: &BodyFiles<'_>,
    dialer: &Dialer,
    host: &mut dyn PartHost,
    stop: &AtomicBool,
) -> Result<(), LoadError> {
    let plans = plan_links(scenario, run, share, files)?;
    let context = RunContext { scenario, plans: &plans, dialer, restorer: None, share };
    let mut prepared = prepare_connections(&context, &mut |told| host.progress(told), stop)?;
    let size = PartSize {
        load_threads: threads(prepared.len()),
        churn_groups: ConnectionChurn::all(scenario, dialer, (0, share)).len(),
        connections: prepared.len(),
    };
    let began = loop {
        if stop.load(Ordering::Relaxed) {
            return Err(LoadError::Stopped);
        }
        if let Some(start) = host.wait_for_start(size) {
            break start;
        }
        let now = Instant::now();
        // A connection that has broken meanwhile fails when the load starts, and is handled there.
        for one in &mut prepared {
            let _ = PreparedConnection::keep_alive(one, now);
        }
    };
    let workers = assemble(&context, prepared)?;
    run_workers(&context, workers, began, host, stop);
    Ok(())
}

fn run_workers(
    context: &RunContext<'_>,
    workers: Vec<Worker>,
    began: PartStart,
    host: &mut dyn PartHost,
    stop: &AtomicBool,
) {
    let scenario = context.scenario;
    let shared = SharedState::default();
    shared.others_confirm.store(true, Ordering::Relaxed);
    // Wishes do not tell empty queues from an abandoned drain.
    shared.is_abandoned.store(true, Ordering::Relaxed);
    shared.service.keep_journal();
    workers.iter().flat_map(Worker::sides).for_each(|side| shared.service.connected(side));
    let (reports, received) = channel();
    let clock = RunClock::with_origin(began.origin);
    let is_consumed = !scenario.consumers.is_empty();
    let run = RunSettings {
        clock,
        tag: began.run_tag,
        numbering: numbering(scenario),
        is_consumed,
        barrier_interval: barrier_interval(scenario),
        ends: LatencyEnds::from_scenario(scenario),
    };
    let churn = ConnectionChurn::all(scenario, context.dialer, (workers.len(), context.share));
    let watched = (clock, shared.service.as_ref());
    let reconnector = reconnector(context, &workers, watched, &reports);
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
            awaits_empty: scenario.run.until == Some(UntilKind::Empty),
            knows_own: scenario.publishers.iter().all(PublisherGroup::is_stamped),
            observations: None,
        };
        watch_token(scope, context.dialer, (&shared, clock));
        let threads = start(scope, workers, &churn, worker_context);
        let collector = Collector::new(threads);
        pass_on(collector, (&received, &clock), &shared, (host, stop), threads);
        reconnector.iter().for_each(Reconnector::end);
        shared.is_over.store(true, Ordering::Relaxed);
    });
}

/// Passes reports on to the host, and its wishes to the threads, until every thread is done.
fn pass_on(
    mut collector: Collector,
    (received, clock): (&Receiver<Report>, &RunClock),
    shared: &SharedState,
    (host, stop): (&mut dyn PartHost, &AtomicBool),
    threads: usize,
) {
    let (mut was_stopped, mut was_started) = (false, false);
    loop {
        let first = received.recv_timeout(POLL_INTERVAL).ok();
        for report in first.into_iter().chain(received.try_iter()) {
            if collector.take(report) {
                shared.abort.store(true, Ordering::Relaxed);
            }
        }
        if let Some(late) = shared.all_started(threads)
            && !std::mem::replace(&mut was_started, true)
        {
            host.started(late.nanos());
        }
        let is_stopped = stop.load(Ordering::Relaxed);
        if is_stopped && !std::mem::replace(&mut was_stopped, true) {
            collector.take(Report::CutShort("a worker ended its load before the end".to_owned()));
        }
        let own = PartWishes { abort: is_stopped, ..PartWishes::default() };
        heed(host.wishes().and(own), shared);
        if let Some(update) = collector.update(clock.now(), shared) {
            host.send(update.encode());
        }
        if collector.ended() == threads {
            return;
        }
    }
}

fn heed(wishes: PartWishes, shared: &SharedState) {
    let flags = [
        (wishes.ending, &shared.ending),
        (wishes.abort, &shared.abort),
        (wishes.is_empty, &shared.is_empty),
    ];
    for (_, flag) in flags.iter().filter(|(is_wanted, _)| *is_wanted) {
        flag.store(true, Ordering::Relaxed);
    }
    if wishes.others_confirmed || wishes.abort {
        shared.others_confirm.store(false, Ordering::Relaxed);
    }
}
