//! All connections of a run, connected in parallel and shared out among threads.

use std::thread;

use crate::{
    LoadError,
    dial::Dialer,
    link::{Link, Wire},
    plan::LinkPlan,
    worker::Worker,
};

/// Connections that are set up at the same time. RabbitMQ takes a few milliseconds for each, most
/// of them waiting.
const PARALLEL: usize = 8;

/// Connects every link of `plans` and gives each worker its share.
pub(crate) fn assemble(plans: &[LinkPlan<'_>], dialer: &Dialer) -> Result<Vec<Worker>, LoadError> {
    let links = connect(plans, dialer)?;
    let frame_max = links.iter().map(Link::frame_max).max().unwrap_or(0);
    let count = workers(links.len());
    let mut shares: Vec<Vec<Link>> = (0..count).map(|_| Vec::new()).collect();
    for (index, link) in links.into_iter().enumerate() {
        shares[index % count].push(link);
    }
    let workers =
        shares.into_iter().enumerate().map(|(number, links)| Worker::new(number, links, frame_max));
    workers
        .collect::<Result<_, _>>()
        .map_err(|source| LoadError::System { doing: "set up an event loop", source })
}

/// Half of the CPUs: the broker is likely to need the others.
fn workers(links: usize) -> usize {
    let cpus = thread::available_parallelism().map_or(1, usize::from);
    (cpus / 2).clamp(1, links.max(1))
}

fn connect(plans: &[LinkPlan<'_>], dialer: &Dialer) -> Result<Vec<Link>, LoadError> {
    let share = plans.len().div_ceil(PARALLEL).max(1);
    let connect_all = |first: usize, plans: &[LinkPlan<'_>]| -> Result<Vec<Link>, LoadError> {
        let numbered = plans.iter().enumerate().map(|(at, plan)| (first + at, plan));
        let links = numbered
            .map(|(number, plan)| Ok(Link::new(number, plan, Wire::set_up(plan, dialer, number)?)));
        links.collect()
    };
    let outcomes: Vec<_> = thread::scope(|scope| {
        let shares = plans.chunks(share).enumerate();
        let threads: Vec<_> =
            shares.map(|(at, plans)| scope.spawn(move || connect_all(at * share, plans))).collect();
        threads.into_iter().map(thread::ScopedJoinHandle::join).collect()
    });
    let mut links = Vec::with_capacity(plans.len());
    for outcome in outcomes {
        links.extend(outcome.expect("setting up connections does not panic")?);
    }
    Ok(links)
}
