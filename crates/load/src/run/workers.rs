//! Distribution of a run's connections among worker threads.

use std::{
    sync::{atomic::AtomicBool, mpsc::Sender},
    thread,
};

use rabbitscope_measurements::{Progress, Report, ServiceMonitor};
use rabbitscope_timing::RunClock;

use crate::{
    connect::{PreparedConnection, Reconnector, allow_descriptors, connect_all},
    context::RunContext,
    error::LoadError,
    link::Link,
    plan::churned_connections,
    worker::Worker,
};

/// Makes all connections and assigns them to workers.
pub(crate) fn assemble_workers(
    context: &RunContext<'_>,
    progress: &mut dyn FnMut(Progress<'_>),
    stop: &AtomicBool,
) -> Result<Vec<Worker>, LoadError> {
    assemble(context, prepare_connections(context, progress, stop)?)
}

/// Makes all connections of the plan.
pub(super) fn prepare_connections(
    context: &RunContext<'_>,
    progress: &mut dyn FnMut(Progress<'_>),
    stop: &AtomicBool,
) -> Result<Vec<PreparedConnection>, LoadError> {
    allow_descriptors(context.plans.len() + churned_connections(context.scenario, context.share))?;
    connect_all(context, progress, stop)
}

/// Creates the reconnector of these workers; absent if the scenario does not ask for recovery.
pub(super) fn reconnector<'a>(
    context: &'a RunContext<'a>,
    workers: &[Worker],
    watched: (RunClock, &'a ServiceMonitor),
    reports: &Sender<Report>,
) -> Option<Reconnector<'a>> {
    let recovery = context.scenario.broker.connecting.recovery?;
    let inboxes = workers.iter().map(Worker::inbox).collect();
    Some(Reconnector::new(context, recovery, watched, inboxes, reports.clone()))
}

/// Assigns the connections, which are in the order of the plan, to workers.
pub(super) fn assemble(
    context: &RunContext<'_>,
    prepared: Vec<PreparedConnection>,
) -> Result<Vec<Worker>, LoadError> {
    let frame_max = prepared.iter().map(PreparedConnection::frame_max).max().unwrap_or(0);
    let count = threads(prepared.len());
    let mut shares: Vec<Vec<Link>> = (0..count).map(|_| Vec::new()).collect();
    for (index, prepared) in prepared.into_iter().enumerate() {
        shares[index % count].push(Link::new(index, &context.plans[index], prepared));
    }

    let workers = shares
        .into_iter()
        .enumerate()
        .map(|(number, links)| Worker::new(number, links, frame_max, context.scenario.run.step));
    workers
        .collect::<Result<_, _>>()
        .map_err(|source| LoadError::System { doing: "set up an event loop", source })
}

/// Worker threads for `links` connections: half of the CPUs, as the broker is likely to need the
/// others.
pub(super) fn threads(links: usize) -> usize {
    let cpus = thread::available_parallelism().map_or(1, usize::from);
    (cpus / 2).clamp(1, links.max(1))
}
